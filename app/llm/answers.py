"""From a request to how long its answer may be, and from an answer to a verdict on it."""

from dataclasses import dataclass

from app.core.acceptance import Verdict, judge
from app.core.cleaning import clean
from app.core.model import Usage
from app.core.summary import CountTokens, SummaryRequest
from app.llm.wire import Answer, Ask

# Reasoning counts as part of an answer and runs to thousands of tokens; an answer cut at its limit is worth nothing.
ROOM_TO_THINK = 4096
# The tokens by which a server's own chat template makes a prompt longer than its texts.
_TEMPLATE_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Judged:
    """A cleaned answer. `usage` holds its tokens; the call itself was counted when it was made. `model`: which one said
    it, where the connection names none.
    """

    text: str
    tokens: int
    verdict: Verdict
    usage: Usage
    model: str | None = None


def max_tokens(request: SummaryRequest, user: str, count: CountTokens) -> int:
    """The connection's own; else four times the limit and room to think, as far as its window has space for it."""
    connection = request.connection
    if connection.max_tokens:
        return connection.max_tokens
    wanted = 4 * request.limit + ROOM_TO_THINK
    if not connection.context_size:
        return wanted
    prompt = count(request.system) + count(user) + _TEMPLATE_TOKENS
    # A summary written anew is fitted into the window beside one limit, everything else beside two.
    least = 2 * request.limit if request.previous is None else request.limit
    return max(least, min(wanted, connection.context_size - prompt))


def judged_answer(request: SummaryRequest, ask: Ask, answer: Answer, count: CountTokens) -> Judged:
    """Cleans, counts and judges. Where the server sent no token counts, prompt and answer are counted as they were.

    A summary that the next one starts from is never longer than its limit: it would take the room of the turns.
    """
    text = clean(answer.text, request.strip_patterns)
    tokens = count(text)
    source = request.source_tokens if request.previous is None else 0
    verdict = judge(text, answer.ending, tokens=tokens, limit=request.limit, source_tokens=source)
    prompt, completion = answer.prompt_tokens, answer.completion_tokens
    if prompt is None:
        prompt = count(ask.system) + count(ask.user)
    if completion is None:
        completion = count(answer.text)
    return Judged(text, tokens, verdict, Usage(0, prompt, completion), answer.model)
