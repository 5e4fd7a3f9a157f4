"""Whether a model's answer may become memory. Source: layered.md, When an answer becomes memory."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended. `complete`: a whole JSON body, or a stream with a finish_reason or an end mark."""

    complete: bool
    finish_reason: str | None = None
    tool_calls: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """Fit to become memory as it is."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """A good answer that needs shortening."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """A failed attempt. `reason` continues "the model …", ends with the next step, and holds nothing of the answer."""

    reason: str


Verdict = Accepted | TooLong | Unusable

BLANK = "gave a blank answer; if it reasons first, switch that off or raise its max_tokens"
REFUSED = "refused to answer; another model or other prompts may do better"

_NATURAL_ENDS = frozenset({"stop", "eos", "eos_token", "end_turn", "stop_sequence"})
_TOO_LITTLE_ROOM = "stopped at its length limit; raise its max_tokens or its context_size"
_CALLED_A_TOOL = "called a tool instead of answering; take tools out of its extra_body, or choose another model"
_UNNATURAL_ENDS = {
    "length": _TOO_LITTLE_ROOM,
    "max_tokens": _TOO_LITTLE_ROOM,
    "tool_calls": _CALLED_A_TOOL,
    "function_call": _CALLED_A_TOOL,
    "content_filter": "was stopped by a content filter; another model may take this passage",
}
_STOPPED = "did not end its answer by itself; see its server's log"
_REFUSAL_CHARS = 600
# A narrator in the first person also says "I cannot help it": so the verbs come with what a model is asked for.
_DUTY = (
    r"(?:assist|summari[sz]e|condense|merge|engage (?:with|in)|participate in|fulfill? (?:this|that|your)"
    r"|(?:help|comply) (?:you )?with (?:this|that|your)"
    r"|(?:provide|create|write|generate|produce) (?:a|any|this|that|the) "
    r"|(?:continue|process|complete|discuss|support|answer|respond to|do) (?:with )?(?:this|that|your))"
)
_NOT_ABLE = (
    r"(?:can(?:'t|not| not)|won't|will not|am (?:unable|not able) to|'m (?:unable|not able) to"
    r"|must decline|have to decline)"
)
_REFUSAL = re.compile(
    rf"\W{{0,8}}(?:(?:i'm|i am|we're) (?:very |really |so )?sorry,? (?:but )?(?:as an ai|i ?{_NOT_ABLE})"
    rf"|sorry,? (?:but )?i ?{_NOT_ABLE}|i apologi[sz]e,? but|unfortunately,? i ?{_NOT_ABLE}"
    rf"|i ?{_NOT_ABLE} {_DUTY}|as an ai\b|as a (?:large )?language model"
    r"|es tut mir leid,? (?:aber )?(?:ich kann|dabei|das kann)|tut mir leid,? (?:aber )?(?:ich kann|dabei|das kann)"
    r"|(?:je suis )?désolée?,? (?:mais )?je ne peux|lo siento,? (?:pero )?no puedo"
    r"|(?:desculpe|sinto muito|lamento),? (?:mas )?(?:eu )?não posso|mi dispiace,? (?:ma )?non posso"
    r"|przykro mi,? (?:ale )?nie mogę|(?:извините|к сожалению|простите),? (?:но )?я не могу"
    r"|(?:很?抱歉|对不起|對不起)[，,]?(?:但是?)?我?.{0,6}(?:无法|無法|不能)|申し訳(?:ありません|ございません)が"
    r"|죄송(?:하지만|합니다)|(?:ขออภัย|ขอโทษ).{0,12}ไม่สามารถ)"
)
_NO_SUMMARY = re.compile(
    r"\W{0,8}(?:error(?: code)?\s?[:\d]|\{\s?\"?error|<!doctype|<html|<\?xml|<tool_call|<function|\[tool_calls?\]"
    r"|(?:http |status )?[45]\d\d (?:internal|bad|service|gateway|too many|unauthorized|forbidden|not found)"
    r"|internal server error|bad gateway|service unavailable|gateway time-?out|too many requests"
    r"|rate limit (?:exceeded|reached)|request timed out|upstream (?:connect |request )?(?:error|timeout)"
    r"|context (?:length|window) exceeded|traceback \(most recent"
    r"|(?:none|null|nil|undefined|n/a|no (?:content|response|answer|summary))\W{0,4}\Z|object object\])"
)
# The same characters five times in a row or more. Only the end is looked at: that is where loops are, and it bounds
# the time. Numbered sentences and the like are no loop.
_LOOP = re.compile(r"(.{1,200}?)\1{4,}", re.DOTALL)
_LOOP_CHARS = 100
_LOOKED_AT = 2000


def judge(text: str, ending: Ending, *, tokens: int, limit: int, source_tokens: int) -> Verdict:
    """Judges an answer whose cleaned `text` holds `tokens` tokens.

    `limit` is snippet_tokens: up to it an answer is accepted, up to twice that only if it is also shorter than its
    source.
    """
    reason = _unusable_ending(ending) or _unusable_text(text)
    if reason:
        return Unusable(reason)
    if tokens <= limit or (tokens <= 2 * limit and tokens < source_tokens):
        return Accepted()
    return TooLong()


def _unusable_ending(ending: Ending) -> str | None:
    if ending.tool_calls:
        return _CALLED_A_TOOL
    if not ending.complete:
        return "broke off in the middle of its answer; see its server's log"
    reason = (ending.finish_reason or "stop").lower()
    return None if reason in _NATURAL_ENDS else _UNNATURAL_ENDS.get(reason, _STOPPED)


def _unusable_text(text: str) -> str | None:
    if not any(character.isalnum() for character in text):
        return BLANK
    opening = text[:_REFUSAL_CHARS].lower().replace("’", "'")
    if _NO_SUMMARY.match(opening):
        return "gave an error text or a placeholder for an answer; see its server's log"
    if len(text) <= _REFUSAL_CHARS and _REFUSAL.match(opening):
        return REFUSED
    if any(loop.end() - loop.start() >= _LOOP_CHARS for loop in _LOOP.finditer(text[-_LOOKED_AT:])):
        return "repeated itself without end; another model or a higher temperature may do better"
    return None
