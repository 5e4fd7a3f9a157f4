"""What is taken off a model's answer before it is judged. Source: layered.md, When an answer becomes memory.

Every step is one pass over the text, so a hostile answer costs time in proportion to its length.
"""

import re
from collections.abc import Iterable

_TAGS = "think|thinking|reasoning|thought|reflect|inner_monologue"
# Two families of channel marks: `<|channel>thought … <channel|>` and `<|channel|>analysis<|message|>…<|end|>`.
_MARK = re.compile(
    rf"<(?:(?P<open>(?i:{_TAGS}))(?:\s[^<>]{{0,200}})?>"
    rf"|/(?P<close>(?i:{_TAGS}))\s{{0,8}}>"
    r"|\|channel\|?>\s{0,8}(?P<channel>\w{0,40})(?:[^<>]{0,80}<\|message\|>)?"
    r"|(?P<over>channel\|>|\|(?:end|return|call)\|>)"
    r"|(?P<start>\|start\|>\w{0,40})|(?:\|message\|>|\|constrain\|>\w{0,40}))"
)
_ANSWER_CHANNELS = ("final", "answer", "response")
_OUTPUT_TAG = re.compile(r"</?(?i:output)(?:\s[^<>]{0,200})?>")
_FENCE = re.compile(r"\A\s{0,80}```\w{0,20}\s(?P<inside>.*)```\s{0,80}\Z", re.DOTALL)
_LABEL = re.compile(
    r"\A(?P<heading>\s{0,8}#{1,6})?[\s*_>]{0,40}"
    r"(?:(?:(?:sure|certainly|okay|ok|of course)[,.!]?\s{1,4})?here(?:'s|’s| is| are)\s[^:\n.]{0,60}"
    r"\b(?:summary|snippet|recap|synopsis|memory|line|version|output)\b[^:\n.]{0,40}"
    r"|(?:(?:the|a|an|brief|short|concise|narrative|updated|merged|final|new)\s{1,4}){0,4}"
    r"(?:summary|snippet|recap|synopsis|memory|output|answer)(?:\s(?:line|snippet|of|for)\b[^:\n.]{0,60})?"
    r"|zusammenfassung|résumé|resumen|resumo|riassunto|samenvatting|podsumowanie"
    r"|краткое содержание|резюме|摘要|总结|總結|概要|要約|요약|สรุป)"
    r"[ *_]{0,8}(?:[:：][\s*_]{0,40}|(?<=[*_])\n\s{0,40}|(?(heading)\n\s{0,40}|(?!)))",
    re.IGNORECASE,
)
_UNSTORABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f\ufeff\ud800-\udfff]")
_ROUNDS = 8


def clean(text: str, strip_patterns: Iterable[str] = ()) -> str:
    """`text` without reasoning, wrappers, `strip_patterns` (literal strings) and labels, on one line.

    What is removed can leave a new mark behind (`<thi<think>…</think>nk>`), so this goes on until nothing changes; a
    text that keeps changing is no answer and gives "". Thus `clean(clean(text)) == clean(text)`.
    """
    patterns = [pattern for pattern in strip_patterns if pattern]
    for _ in range(_ROUNDS):
        cleaned = _clean_once(text, patterns)
        if cleaned == text:
            return cleaned
        text = cleaned
    return ""


def _clean_once(text: str, patterns: list[str]) -> str:
    text = _without_reasoning(_UNSTORABLE.sub("", text))
    text = _OUTPUT_TAG.sub(" ", text)
    for pattern in patterns:
        text = text.replace(pattern, "")
    return " ".join(_without_label(text).split())


def _without_reasoning(text: str) -> str:
    """An opening without an end takes the rest. A closing tag without an opening takes what is before it: chat
    templates often put the opening tag into the prompt, so that the answer starts in the middle of the reasoning.
    """
    kept: list[str] = []
    inside: str | None = None
    position = 0
    for mark in _MARK.finditer(text):
        if not inside:
            kept.append(text[position : mark.start()])
            if inside is None and _ends_unopened(mark):
                kept.clear()
            inside = _opened(mark)
        elif _ends(mark, inside):
            inside = _opened(mark)
        position = mark.end()
    return " ".join([*kept, "" if inside else text[position:]])


def _opened(mark: re.Match[str]) -> str | None:
    """The reasoning block that begins here: its tag or "channel"; "" for the channel of the answer itself."""
    channel = mark["channel"]
    if channel is not None:
        return "" if channel.lower() in _ANSWER_CHANNELS else "channel"
    return mark["open"] and mark["open"].lower()


def _ends(mark: re.Match[str], inside: str) -> bool:
    if inside == "channel":
        return bool(mark["over"] or mark["start"]) or mark["channel"] is not None
    return bool(mark["close"]) and mark["close"].lower() == inside


def _ends_unopened(mark: re.Match[str]) -> bool:
    return bool(mark["close"]) or mark[0] == "<channel|>"


def _without_label(text: str) -> str:
    fence = _FENCE.match(text)
    text = fence["inside"] if fence else text
    label = _LABEL.match(text)
    return text[label.end() :] if label else text
