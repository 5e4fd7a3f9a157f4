"""The memory of the Summaryception extension for SillyTavern and of its forks: the store that they keep in a chat's
metadata and write as an export file.

Three shapes: the original's layers with message indices; several such banks, one of them active (Dogoo9); layers with
message ids (vadash). Stores are often damaged: what can be taken is taken, and what cannot is named.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from app.core.limits import is_too_long
from app.formats.dates import parse_send_date
from app.formats.parsed import ParsedMemory, ParsedSnippet, WarningLog

STORE_KEY = "summaryception"

_BANK = frozenset({"layers", "summarizedUpTo", "ghostedIndices", "ghostedMessageIds"})
_SNIPPET = frozenset(
    {
        *("text", "timestamp", "turnRange", "sourceRange", "sourceMessageIds", "mergedCount", "promoted"),
        *("regenerated", "fromLayer", "seedFromLayer"),
    }
)
# What stores say of themselves, and nobody misses.
_TECHNICAL = frozenset(
    {
        *("version", "memoryMode", "activeMemoryKey", "memories", "sharedMemory", "memoryLabels", "mutationEpoch"),
        *("memoryAttachments", "memoryIdentities", "migrationWarnings"),
    }
)
_SHARED = "sharedMemory"
# Extensions allow 20 layers at most; a number beyond this is damage.
_DEEPEST = 99
_MOST_MERGED = 1000
_LABEL_CHARS = 60
_DIGITS = 18


def is_store(value: object) -> bool:
    """Whether a JSON value looks like a store."""
    return isinstance(value, dict) and ("layers" in value or isinstance(value.get("memories"), dict))


def read_store(store: Mapping[str, Any], log: WarningLog) -> ParsedMemory:
    """The memory in a store, that of its active bank if it has banks. What is wrong with it is a warning."""
    key = _active_key(store, log)
    bank = store if key is None else _banks(store)[key]
    snippets = tuple(_snippets(bank.get("layers"), log))
    _tell_unused(store, snippets, log)
    return ParsedMemory(
        snippets=snippets,
        summarized_through=_pointer(bank, log) if snippets else None,
        ghosted=frozenset(_whole_numbers(bank.get("ghostedIndices"))),
        ghosted_ids=frozenset(_texts(bank.get("ghostedMessageIds"))),
        extra=_rest(store, key),
    )


def _banks(store: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    memories = store.get("memories")
    if not isinstance(memories, dict):
        return {}
    banks = [*memories.items(), (_SHARED, store.get(_SHARED))]
    return {key: bank for key, bank in banks if isinstance(bank, dict)}


def _active_key(store: Mapping[str, Any], log: WarningLog) -> str | None:
    """The bank in use, None if the store has none; others with content are named."""
    banks = _banks(store)
    full = [key for key, bank in banks.items() if next(_listed(bank.get("layers")), None)]
    active = _named_active(store, banks)
    if active is None and full and "layers" not in store:
        active = full[0]
        log.add("bank_chosen", f"The memory has banks, and none is active: that of {_label(store, active)} was taken.")
    for other in full:
        if other != active:
            log.add(
                "bank_left_out",
                f"The memory has several banks. That of {_label(store, other)} was not taken; make it the active one "
                "and export again to import it.",
            )
    return active


def _named_active(store: Mapping[str, Any], banks: Mapping[str, Any]) -> str | None:
    mode, active = store.get("memoryMode"), store.get("activeMemoryKey")
    if isinstance(mode, str) and "shared" in mode.lower() and _SHARED in banks:
        return _SHARED
    return active if isinstance(active, str) and active in banks else None


def _rest(store: Mapping[str, Any], taken: str | None) -> dict[str, Any]:
    """What the store says beyond the memory that was taken."""
    rest = {key: value for key, value in store.items() if key not in _BANK and key != taken}
    memories = _object(rest.get("memories"))
    return rest | {"memories": {key: bank for key, bank in memories.items() if key != taken}} if memories else rest


def _label(store: Mapping[str, Any], key: str) -> str:
    """What a person calls a bank."""
    if key == _SHARED:
        return "all characters"
    label = _object(store.get("memoryLabels")).get(key)
    names = [_object(_object(store.get(table)).get(key)) for table in ("memoryAttachments", "memoryIdentities")]
    candidates = [label, *(name.get("characterName") for name in names), key]
    found = next((text for text in candidates if isinstance(text, str) and text.strip()), "?")
    return f"“{_one_line(found)[:_LABEL_CHARS]}”"


def _snippets(layers: object, log: WarningLog) -> Iterator[ParsedSnippet]:
    """Deepest layer first, oldest first."""
    for what, value in [("memory's “layers”", layers), *((f"layer {n}", inner) for n, inner in _numbered(layers))]:
        if value is not None and not isinstance(value, list | dict):
            log.add("unreadable_memory", f"The {what} cannot be read: no list of snippets. Nothing of it was taken.")
    for layer, place, value in _listed(layers):
        fields = {"text": value} if isinstance(value, str) else _object(value)
        text = fields.get("text")
        line = _one_line(text) if isinstance(text, str) else ""
        if line and not is_too_long(line):
            yield _snippet(line, layer, place, fields)
        else:
            reason = "it is longer than 1 MiB" if line else "it has no text"
            log.add("unreadable_snippet", f"Snippet {place + 1} of layer {layer} was skipped: {reason}.")


def _listed(layers: object) -> Iterator[tuple[int, int, Any]]:
    """Layer, place and value of whatever stands in the lists of layers, in reading order; null is a hole."""
    for layer, inner in sorted(_numbered(layers), key=lambda pair: -pair[0]):
        for place, value in _numbered(inner):
            if value is not None:
                yield min(layer, _DEEPEST), place, value


def _numbered(values: object) -> Iterable[tuple[int, Any]]:
    """A list's places and values, ascending. Some writers make an object with numbers for keys of a list with holes."""
    if isinstance(values, list):
        return enumerate(values)
    numbers = ((_whole(key), value) for key, value in _object(values).items())
    return sorted(((number, value) for number, value in numbers if number is not None and number >= 0), key=_first)


def _first(pair: tuple[int, Any]) -> int:
    return pair[0]


def _snippet(text: str, layer: int, place: int, fields: Mapping[str, Any]) -> ParsedSnippet:
    merged = _whole(fields.get("mergedCount")) or 1
    return ParsedSnippet(
        text=text,
        layer=layer,
        place=place,
        range=_range(fields.get("turnRange")) or _range(fields.get("sourceRange")),
        message_ids=tuple(_texts(fields.get("sourceMessageIds"))),
        merged=min(max(merged, 1), _MOST_MERGED),
        created_at=parse_send_date(fields.get("timestamp")),
        promoted=fields.get("promoted") is True,
        regenerated=fields.get("regenerated") is True,
        extra={key: value for key, value in fields.items() if key not in _SNIPPET and value is not None},
    )


def _range(value: object) -> tuple[int, int] | None:
    """First and last of a list of two, or of an object that names them."""
    if isinstance(value, dict):
        value = [value.get("start", value.get("first")), value.get("end", value.get("last"))]
    if not isinstance(value, list) or len(value) != 2:
        return None
    first, last = _whole(value[0]), _whole(value[1])
    return (first, last) if first is not None and last is not None else None


def _pointer(bank: Mapping[str, Any], log: WarningLog) -> int | None:
    """`summarizedUpTo`; vadash's stores have none, those of the original sometimes lose it."""
    pointer = _whole(bank.get("summarizedUpTo"))
    if pointer is None and "ghostedMessageIds" not in bank:
        log.add(
            "pointer_recomputed",
            "The memory does not say how far it reaches (“summarizedUpTo”); the ranges of its snippets say it.",
        )
    return None if pointer is None else max(pointer, -1)


def _tell_unused(store: Mapping[str, Any], snippets: Sequence[ParsedSnippet], log: WarningLog) -> None:
    """Name what forks add and nothing here acts on."""
    kept = [key for key, value in store.items() if key not in _BANK | _TECHNICAL and isinstance(value, dict | list)]
    kept = [key for key in kept if store[key]]
    kept += sorted({key for snippet in snippets for key in snippet.extra if key in ("detail", "recall")})
    if kept:
        names = ", ".join(f"“{_one_line(key)[:_LABEL_CHARS]}”" for key in kept[:10])
        log.add("not_used", f"The memory also holds {names}: this is kept with the chat, but not sent to a model.")


def _whole_numbers(value: object) -> Iterator[int]:
    for item in value if isinstance(value, list) else []:
        number = _whole(item)
        if number is not None and number >= 0:
            yield number


def _texts(value: object) -> Iterator[str]:
    return (item for item in value if isinstance(item, str)) if isinstance(value, list) else iter(())


def _whole(value: object) -> int | None:
    """A whole number, written as one, as a decimal fraction or as text."""
    if isinstance(value, str):
        digits = value.strip()
        if len(digits) > _DIGITS or not digits.removeprefix("-").isdecimal():
            return None
        return int(digits)
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 10**_DIGITS else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _one_line(text: str) -> str:
    return " ".join(text.split())
