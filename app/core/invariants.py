"""What must hold in a stored chat, and what puts it right where it does not (layered.md, Words and Promises).

Only layered memory is looked at (app.core.chains looks at the others); of the other strategies' leaves it is known that
hidden, omitted and pinned messages have none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from app.core.facts import (
    Ask,
    Derive,
    Drop,
    Finding,
    MarkStale,
    Renumber,
    StoredMessage,
    StoredSnippet,
    Uncover,
    count,
    listed,
)
from app.core.healing import ATTEMPTS
from app.core.lineage import check_parents, roots_of
from app.core.model import Role, Strategy
from app.core.ordering import check_order

_Roots = Mapping[int, int | None]
_Ranges = Mapping[int, tuple[int, int]]


def examine(
    messages: Iterable[StoredMessage], snippets: Sequence[StoredSnippet], *, present: bool = True
) -> list[Finding]:
    """What is wrong with a chat; nothing if it is well. `present`: the chat uses layered memory now.

    The fixes fit together: when all are applied in their order, only what has no fix is still to be found.
    """
    ordered = sorted(messages, key=lambda message: (message.position, message.key))
    mended, parents = check_parents(snippets)
    roots = roots_of(mended)
    chat = [_derived(place, message) for place, message in enumerate(ordered)]
    troubled = _troubled(chat, roots)
    freed = {message.key for found in troubled.values() for message in found}
    settled = [replace(message, leaf=None) if message.key in freed else message for message in chat]
    ranges = _ranges(settled, mended)
    sound = [snippet for snippet in mended if snippet.key in ranges]
    return [
        *_places(ordered),
        *_columns(ordered),
        *parents,
        *_covers(troubled, ranges),
        *_empty(mended, roots, ranges),
        *check_order(sound, ranges),
        *_unmarked(sound, _homes(settled, ranges, roots)),
        *(remakes(sound) if present else ()),
    ]


def _derived(place: int, message: StoredMessage) -> StoredMessage:
    """The message with its place and the columns that follow from what it says."""
    blank = message.empty
    closes = message.role == Role.ASSISTANT and not message.calls and not blank
    if (message.position, message.blank, message.closes) == (place, blank, closes):
        return message
    return replace(message, position=place, blank=blank, closes=closes)


def _places(ordered: Sequence[StoredMessage]) -> list[Finding]:
    wrong = [(message, place) for place, message in enumerate(ordered) if message.position != place]
    if not wrong:
        return []
    detail = (
        f"The messages' indices have gaps or doubles: {len(wrong)} of {len(ordered)} stand where they do not belong"
        f" (index {listed(message.position for message, _ in wrong)}). They are numbered anew in the order they have;"
        " of two in one place the older comes first."
    )
    return [Finding("positions_broken", detail, Renumber(tuple((message.key, place) for message, place in wrong)))]


def _columns(ordered: Sequence[StoredMessage]) -> list[Finding]:
    rights = {message.key: _derived(message.position, message) for message in ordered}
    told = (
        ("blank_wrong", "empty", [message for message in ordered if message.blank != rights[message.key].blank]),
        ("closes_wrong", "the end of a turn", [m for m in ordered if m.closes != rights[m.key].closes]),
    )
    return [
        Finding(
            code,
            f"{count(len(found), 'message')} wrongly noted as {words}, or wrongly not ({_indices(found)}). What the"
            " messages hold decides.",
            Derive(tuple((one.key, rights[one.key].blank, rights[one.key].closes) for one in found)),
        )
        for code, words, found in told
        if found
    ]


_TROUBLES = {
    "covered_not_plain": "{} under a snippet although hidden, omitted or pinned ({}). They leave it; their marks stay.",
    "prompt_covered": "{} of the chat's own system prompt under a snippet ({}). They are sent as they are again.",
    "leaf_missing": "{} under a snippet that is not there ({}), so that neither the messages nor a summary of them is"
    " sent. They become visible.",
    "leaf_dead": "{} under a snippet that is not in the prompt, and nothing that absorbed it is ({}), so that neither"
    " the messages nor a summary of them is sent. They become visible.",
}


def _troubled(chat: Sequence[StoredMessage], roots: _Roots) -> dict[str, list[StoredMessage]]:
    """The messages that may not be under the snippet they are under, by what is the matter."""
    spoken = (message.position for message in chat if message.role in (Role.USER, Role.ASSISTANT))
    begin = next(spoken, len(chat))
    found: dict[str, list[StoredMessage]] = {code: [] for code in _TROUBLES}
    for message in chat:
        if (message.leaf is not None or message.elsewhere) and (code := _trouble(message, roots, begin)):
            found[code].append(message)
    return found


def _trouble(message: StoredMessage, roots: _Roots, begin: int) -> str | None:
    if message.hidden or message.omitted or message.pinned:
        return "covered_not_plain"
    if message.position < begin and message.role == Role.SYSTEM:
        return "prompt_covered"
    if message.leaf is None:
        return None
    if message.leaf not in roots:
        return "leaf_missing"
    return "leaf_dead" if roots[message.leaf] is None else None


def _covers(troubled: Mapping[str, Sequence[StoredMessage]], ranges: _Ranges) -> list[Finding]:
    """A pinned message leaves its snippet fresh: what that says is still true (layered.md, Edits)."""
    findings = []
    for code, found in troubled.items():
        worn = {message.leaf for message in found if not message.pinned and message.leaf in ranges}
        if found:
            detail = _TROUBLES[code].format(count(len(found), "message"), _indices(found))
            strategy = Strategy.LAYERED if code.startswith("leaf_") else None
            fix = Uncover(tuple(message.key for message in found), tuple(sorted(key for key in worn if key)), strategy)
            findings.append(Finding(code, detail, fix))
    return findings


def _ranges(chat: Iterable[StoredMessage], snippets: Sequence[StoredSnippet]) -> dict[int, tuple[int, int]]:
    """The first and last index of the messages under snippets, through whatever layers; none under which nothing but
    empty messages lie.
    """
    leaves: dict[int, tuple[int, int]] = {}
    texts: set[int] = set()
    for message in chat:
        if message.leaf is not None:
            leaves[message.leaf] = (leaves.get(message.leaf, (message.position,))[0], message.position)
            texts |= set() if message.blank else {message.leaf}
    parents = {snippet.key: snippet.parent for snippet in snippets}
    found: dict[int, tuple[int, int]] = {}
    for key in texts:
        at: int | None = key
        while at is not None:
            low, high = found.get(at, leaves[key])
            found[at] = min(low, leaves[key][0]), max(high, leaves[key][1])
            at = parents[at]
    return found


def _empty(snippets: Sequence[StoredSnippet], roots: _Roots, ranges: _Ranges) -> list[Finding]:
    found = [snippet for snippet in snippets if roots[snippet.key] is not None and snippet.key not in ranges]
    if not found:
        return []
    detail = f"{count(len(found), 'snippet')} with nothing under it that says anything ({_ids(found)}). They go."
    return [Finding("snippet_empty", detail, Drop(tuple(snippet.key for snippet in found)))]


def _homes(chat: Iterable[StoredMessage], ranges: _Ranges, roots: _Roots) -> set[int]:
    """The leaves that visible messages inside a live snippet's range join: the nearest before them (layered.md,
    Folding).
    """
    found: set[int] = set()
    before: int | None = None
    waiting = False
    for message in chat:
        if message.leaf is None or message.leaf not in ranges:
            plain = not (message.hidden or message.omitted or message.pinned or message.blank)
            waiting = waiting or plain
            continue
        if waiting and before is not None and roots[before] == roots[message.leaf]:
            found.add(before)
        before, waiting = message.leaf, False
    return found


def _unmarked(snippets: Sequence[StoredSnippet], homes: set[int]) -> list[Finding]:
    """A part whose text is a person's may stay out of date; what absorbed it is not made anew for that."""
    worn = {snippet.parent for snippet in snippets if snippet.stale and not snippet.edited} | homes
    found = [one for one in snippets if one.key in worn and not (one.stale or one.edited or one.asked)]
    if not found:
        return []
    detail = (
        f"{count(len(found), 'snippet')} not noted as stale, though what is under it has changed ({_ids(found)}). They"
        " are noted so, and made anew."
    )
    return [Finding("snippet_not_stale", detail, MarkStale(tuple(snippet.key for snippet in found)))]


def remakes(snippets: Sequence[StoredSnippet]) -> list[Finding]:
    """What is not broken, but better made anew now that somebody asks for a repair."""
    open_ones = [snippet for snippet in snippets if not (snippet.asked or snippet.edited)]
    stuck = [snippet for snippet in open_ones if snippet.stale and snippet.failures >= ATTEMPTS]
    degraded = [snippet for snippet in open_ones if snippet.degraded and snippet not in stuck]
    told = (
        ("stale_waiting", stuck, f"stale, and making it anew has failed {ATTEMPTS} times"),
        ("degraded", degraded, "degraded: cut, or not written by the model that should have"),
    )
    return [
        Finding(
            code,
            f"{count(len(found), 'snippet')} {words} ({_ids(found)}). The model is asked for new texts; the old ones"
            " stay until these are there.",
            Ask(tuple(snippet.key for snippet in found)),
        )
        for code, found, words in told
        if found
    ]


def _indices(found: Iterable[StoredMessage]) -> str:
    return f"index {listed(message.position for message in found)}"


def _ids(found: Iterable[StoredSnippet]) -> str:
    return listed(snippet.id for snippet in found)
