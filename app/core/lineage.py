"""What absorbed what: every way upward must end at a live snippet, or at one that was deleted with all its parts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from app.core.facts import Finding, Relink, StoredSnippet, count, listed

_DETAILS = {
    "parent_cycle": "{} absorbed each other in a circle, so that none is in the prompt ({}). They go, and the"
    " messages under them become visible.",
    "parent_dead": "{} absorbed by one that is not there ({}). They go, and the messages under them become visible.",
    "parent_unexpected": "{} in a state that does not fit what is said to have absorbed them ({}). They count as"
    " absorbed where that is in the prompt; elsewhere nothing absorbed them.",
}


def check_parents(snippets: Sequence[StoredSnippet]) -> tuple[list[StoredSnippet], list[Finding]]:
    """The snippets with states and parents that fit together, and what did not."""
    known = {snippet.key: snippet for snippet in snippets}
    wrong = {snippet.key: code for snippet in snippets if (code := _trouble(snippet, known))}
    mended = [_mended(snippet, known) if snippet.key in wrong else snippet for snippet in snippets]
    findings = []
    for code, words in _DETAILS.items():
        found = [snippet for snippet in mended if wrong.get(snippet.key) == code]
        if found:
            detail = words.format(count(len(found), "snippet"), listed(snippet.id for snippet in found))
            values = tuple((snippet.key, snippet.state, snippet.parent) for snippet in found)
            findings.append(Finding(code, detail, Relink(values)))
    return mended, findings


def _trouble(snippet: StoredSnippet, known: Mapping[int, StoredSnippet]) -> str | None:
    if _circles(snippet, known):
        return "parent_cycle"
    if snippet.state == "absorbed":
        return "parent_dead" if snippet.parent not in known else None
    return "parent_unexpected" if snippet.parent is not None else None


def _circles(snippet: StoredSnippet, known: Mapping[int, StoredSnippet]) -> bool:
    """Whether the way upward leads back to the snippet itself."""
    seen: set[int] = set()
    at = known.get(snippet.parent) if snippet.parent is not None else None
    while at is not None and at.key != snippet.key and at.key not in seen:
        seen.add(at.key)
        at = known.get(at.parent) if at.parent is not None else None
    return at is not None and at.key == snippet.key


def _mended(snippet: StoredSnippet, known: Mapping[int, StoredSnippet]) -> StoredSnippet:
    if snippet.state == "absorbed" or _circles(snippet, known):
        return replace(snippet, state="deleted", parent=None)
    parent = known.get(snippet.parent) if snippet.parent is not None else None
    if parent is not None and parent.state in ("live", "absorbed") and snippet.state == "live":
        return replace(snippet, state="absorbed")
    return replace(snippet, parent=None)


def roots_of(snippets: Iterable[StoredSnippet]) -> dict[int, int | None]:
    """For each snippet the live one that stands for it, which may be itself; None if none does."""
    known = {snippet.key: snippet for snippet in snippets}
    found: dict[int, int | None] = {}
    for snippet in known.values():
        way, at = [], snippet
        while at.key not in found and at.state == "absorbed" and at.parent in known:
            way.append(at.key)
            at = known[at.parent]
        root = found.get(at.key, at.key if at.state == "live" else None)
        found |= dict.fromkeys([*way, at.key], root)
    return found
