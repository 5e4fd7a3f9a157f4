"""A long chat as the Summaryception extension leaves it: most of it hidden, its memory in the chat's metadata.

Its turns are its replies, its places those of messages: a batch is three replies and what stands before each. Layer 0
has the ranges of its batches; of what was merged into deeper layers only the count is left, and a seed keeps its range.
"""

from typing import Any

from tests.support.tavern import line

TOTAL = 1001
"""Messages: the greeting, then 500 pairs."""
THROUGH = 982
"""The newest that is summarized: nine replies come after it."""
BATCHES = 164
USER_HIDDEN = (300, 301)
NARRATOR = 500
COMMENT = 700
GHOSTED = [place for place in range(THROUGH + 1) if place not in (*USER_HIDDEN, COMMENT)]


def messages() -> list[dict[str, Any]]:
    """The chat's messages."""
    return [_message(place) for place in range(TOTAL)]


def _message(place: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"extra": {"api": "custom", "model": "fake"}} if place % 2 == 0 else {}
    if place in USER_HIDDEN:
        fields["is_system"] = True
    elif place == COMMENT:
        fields.update(is_system=True, extra={"type": "comment", "isSmallSys": True}, name="Note")
    elif place <= THROUGH:
        fields.update(is_system=True, extra={**fields.get("extra", {}), "sc_ghosted": True})
    if place == NARRATOR:
        fields.update(name="System", extra={"type": "narrator", "sc_ghosted": True})
    return line("assistant" if place % 2 == 0 else "user", f"Line {place}: the road goes on.", **fields)


def range_of(batch: int) -> list[int]:
    """First and last message of a batch; the first one has the greeting, too."""
    return [0, 4] if batch == 0 else [6 * batch - 1, 6 * batch + 4]


def store() -> dict[str, Any]:
    """Batch 0 is the seed of layer 2, 1 to 54 are merged there, 55 to 135 in layer 1; the rest are fresh."""
    fresh = [{"text": f"Batch {n}.", "turnRange": range_of(n), "timestamp": _time(n)} for n in range(136, BATCHES)]
    once = [_merged(0, 3, first) for first in range(55, 136, 3)]
    twice = [_merged(1, 3, first) for first in range(1, 55, 9)]
    seed = {"text": "Batch 0.", "turnRange": range_of(0), "timestamp": _time(0), "promoted": True, "seedFromLayer": 1}
    return {"layers": [fresh, once, [seed, *twice]], "summarizedUpTo": THROUGH, "ghostedIndices": GHOSTED}


SNIPPETS = 28 + 27 + 7


def _merged(source: int, count: int, first: int) -> dict[str, Any]:
    return {"text": f"From batch {first} on.", "fromLayer": source, "mergedCount": count, "timestamp": _time(first)}


def _time(batch: int) -> int:
    return 1_767_000_000_000 + 60_000 * batch


def short(count: int = 41) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A chat with one snippet, over its first eleven messages but for one that a person hid."""
    lines = [line("assistant" if n % 2 == 0 else "user", f"Line {n}.", is_system=n < 11) for n in range(count)]
    hidden = [n for n in range(11) if n != 7]
    for place in hidden:
        lines[place]["extra"] = {"sc_ghosted": True}
    snippet = {"text": "Batch 0.", "turnRange": [0, 10], "timestamp": _time(0)}
    return lines, {"layers": [[snippet]], "summarizedUpTo": 10, "ghostedIndices": hidden}


def fork_with_ids(count: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A chat of the fork that knows messages by ids of its own, with two snippets over its first twelve messages."""
    lines = [
        line("assistant" if n % 2 == 0 else "user", f"Line {n}.", extra={"sc_id": f"m-{n}"}, is_system=n < 12)
        for n in range(count)
    ]
    for one in lines[:12]:
        one["extra"]["sc_ghosted"] = True
    names = [f"m-{n}" for n in range(12)]
    snippets = [
        {"text": "The first six.", "sourceMessageIds": names[:6]},
        {"text": "The next six.", "sourceMessageIds": names[6:]},
    ]
    return lines, {"layers": [snippets], "ghostedMessageIds": names, "mutationEpoch": 4}


def fork_with_banks(count: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A chat of the fork that has a memory for each character card; Mira's is the active one."""
    lines = [line("assistant" if n % 2 == 0 else "user", f"Line {n}.", is_system=n < 11) for n in range(count)]
    for one in lines[:11]:
        one["extra"] = {"sc_ghosted": True}
    banks = {
        key: {
            "layers": [[{"text": text, "turnRange": [0, 10]}]],
            "summarizedUpTo": 10,
            "ghostedIndices": list(range(11)),
        }
        for key, text in (("character:file:mira", "As Mira saw it."), ("character:file:tom", "As Tom saw it."))
    }
    labels = {"character:file:mira": "Mira", "character:file:tom": "Tom"}
    return lines, {
        **{"version": 3, "memoryMode": "perCharacterCard", "activeMemoryKey": "character:file:mira"},
        **{"memories": banks, "memoryLabels": labels},
    }
