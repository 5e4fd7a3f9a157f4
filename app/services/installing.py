"""Storing the rows of a file of our own: ids become keys, and what refers to nothing is refused."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sqlmodel import Session

from app.core.model import Strategy
from app.errors import InvalidRequest
from app.formats.turnfold import COVERING
from app.formats.turnfold_reading import invalid
from app.services.unpacking import Row, Unpacked
from app.store import intake, snippets, soundness
from app.store.messages import insert_many, leaf_of

_NEVER = -1
"""The key of no message: stands for those that are gone in what a deletion uncovered."""

_COLUMNS = [(strategy, leaf.key) for strategy in COVERING if (leaf := leaf_of(strategy)) is not None]
"""For each strategy with snippets, the column that says which one covers a message."""

_Known = Mapping[str, tuple[int, str]]
"""Keys and strategies of snippets by their ids."""


def install(session: Session, chat_key: int, unpacked: Unpacked) -> None:
    """Store all rows in a chat that is empty yet. Raises InvalidRequest, which names the line.

    Snippets come first, so that what refers to them finds them; their own parents may stand later in the file.
    """
    for rows in unpacked.of("snippet"):
        _store_snippets(session, chat_key, rows)
    for rows in unpacked.of("snippet"):
        _link(session, chat_key, rows)
    _refuse_loops(session, chat_key)
    for rows in unpacked.of("message"):
        _store_messages(session, chat_key, rows)
    for rows in unpacked.of("kept_message"):
        intake.insert_rows(session, "kept_messages", [{**row.columns, "chat_key": chat_key} for row in rows])
    for rows in unpacked.of("snippet_version"):
        _store_versions(session, chat_key, rows)
    for rows in unpacked.of("undo_step"):
        _store_steps(session, chat_key, rows, unpacked.counts["message"])
    for rows in unpacked.of("view"):
        _store_views(session, chat_key, rows)


def _store_snippets(session: Session, chat_key: int, rows: list[Row]) -> None:
    _refuse_doubles(rows, intake.known_snippets(session, chat_key, [row.columns["id"] for row in rows]), "snippet")
    taken: set[tuple[Any, ...]] = set()
    for row in rows:
        place = tuple(row.columns[name] for name in ("strategy", "layer", "position"))
        if row.columns["state"] == "live" and (place in taken or intake.is_place_taken(session, chat_key, *place)):
            raise invalid(row.line, "snippet: another live snippet has this place in its layer")
        taken |= {place} if row.columns["state"] == "live" else set()
    # Nothing is absorbed before what absorbed it is there.
    intake.insert_rows(
        session,
        "snippets",
        [{**row.columns, "chat_key": chat_key, "state": _first_state(row.columns["state"])} for row in rows],
    )


def _first_state(state: str) -> str:
    return "superseded" if state == "absorbed" else state


def _link(session: Session, chat_key: int, rows: list[Row]) -> None:
    parts = [row for row in rows if row.refers["parent_id"] is not None]
    ids = {row.columns["id"] for row in parts} | {row.refers["parent_id"] for row in parts}
    known = intake.known_snippets(session, chat_key, ids)
    for row in parts:
        if known.get(row.refers["parent_id"], (0, ""))[1] != row.columns["strategy"]:
            raise invalid(row.line, "snippet: “parent_id” names no snippet of this strategy in the file")
    intake.link_parts(session, [(known[row.columns["id"]][0], known[row.refers["parent_id"]][0]) for row in parts])


def _refuse_doubles(rows: list[Row], known: Collection[str], part: str, called: str = "id") -> None:
    seen = set(known)
    for row in rows:
        if row.columns[called] in seen:
            raise invalid(row.line, f"{part}: its {called} is that of an earlier one")
        seen.add(row.columns[called])


def _refuse_loops(session: Session, chat_key: int) -> None:
    looping = soundness.first_rootless(session, chat_key)
    if looping is not None:
        raise unsound(f"snippet {looping!r} and what absorbed it absorb each other")


def unsound(detail: str) -> InvalidRequest:
    """What the lines say by themselves is well, and together it would break a promise (layered.md, Promises)."""
    return InvalidRequest(f"The memory in the file does not hold together: {detail}. Nothing was imported.")


def _store_messages(session: Session, chat_key: int, rows: list[Row]) -> None:
    _refuse_doubles(rows, intake.known_messages(session, chat_key, [row.columns["id"] for row in rows]), "message")
    ids = {leaf for row in rows for leaf in (row.refers["leaves"] or {}).values()}
    known = intake.known_snippets(session, chat_key, ids)
    values = [
        {**row.columns, "chat_key": chat_key, **{column: _leaf(row, kind, known) for kind, column in _COLUMNS}}
        for row in rows
    ]
    insert_many(session, values)


def _leaf(row: Row, strategy: str, known: _Known) -> int | None:
    leaf = (row.refers["leaves"] or {}).get(strategy)
    if leaf is None:
        return None
    key, its_strategy = known.get(leaf, (0, ""))
    if its_strategy != strategy:
        raise invalid(row.line, f"message: “leaves” names no snippet of the strategy {strategy} in the file")
    return key


def _store_versions(session: Session, chat_key: int, rows: list[Row]) -> None:
    known = intake.known_snippets(session, chat_key, {row.refers["snippet_id"] for row in rows})
    keys = [_snippet(row, known, "snippet_version") for row in rows]
    counts = intake.count_versions(session, set(keys))
    for row, key in zip(rows, keys, strict=True):
        if row.refers["number"] != counts.get(key, 0):
            raise invalid(row.line, "snippet_version: “number” must count the earlier texts of the snippet from 0")
        counts[key] = counts.get(key, 0) + 1
    values = [{**row.columns, "snippet_key": key} for row, key in zip(rows, keys, strict=True)]
    intake.insert_rows(session, "snippet_versions", values)


def _snippet(row: Row, known: _Known, part: str) -> int:
    if row.refers["snippet_id"] not in known:
        raise invalid(row.line, f"{part}: “snippet_id” names no snippet in the file")
    return known[row.refers["snippet_id"]][0]


def _store_steps(session: Session, chat_key: int, rows: list[Row], total: int) -> None:
    known = intake.known_snippets(session, chat_key, {row.refers["snippet_id"] for row in rows})
    for row in rows:
        key = _snippet(row, known, "undo_step")
        number, covered = row.refers["version"], row.refers["covered"]
        version = intake.version_key(session, key, number) if number is not None else None
        if number is not None and version is None:
            raise invalid(row.line, "undo_step: “version” names no earlier text of the snippet in the file")
        more = {
            "version_key": version,
            "covered": _covered(session, chat_key, row, key, total) if covered is not None else None,
        }
        values = {**row.columns, "chat_key": chat_key, "snippet_key": key, **more}
        intake.insert_rows(session, "undo_steps", [values])


def _covered(session: Session, chat_key: int, row: Row, root: int, total: int) -> dict[str, list[tuple[int, int]]]:
    """What a deletion uncovered, as it is stored: key and revision of messages by the key of their leaf."""
    covered = row.refers["covered"]
    known = intake.known_snippets(session, chat_key, covered)
    under = set(snippets.leaves_under(session, root)) | _before(known, covered)
    if any(known.get(leaf, (0, ""))[0] not in under for leaf in covered):
        raise invalid(row.line, "undo_step: “covered” names a snippet that is not under the deleted one")
    if any(last >= total for found in covered.values() for _, last, _ in found["runs"]):
        raise invalid(row.line, "undo_step: “covered” names messages beyond the end of the chat")
    return {str(known[leaf][0]): list(_keys(session, chat_key, found)) for leaf, found in covered.items()}


def _before(known: _Known, covered: Mapping[str, Any]) -> set[int]:
    """The key of the summary that a deleted one went on from, which is named with nothing under it."""
    named = [known[leaf] for leaf, found in covered.items() if leaf in known and not found["runs"]]
    return {key for key, strategy in named if Strategy(strategy).rewrites}


def _keys(session: Session, chat_key: int, found: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    for first, last, revision in found["runs"]:
        for key in intake.keys_between(session, chat_key, first, last):
            yield key, revision
    if found["gone"]:
        yield _NEVER, 0


def _store_views(session: Session, chat_key: int, rows: list[Row]) -> None:
    _refuse_doubles(rows, intake.known_views(session, chat_key), "view", "name")
    intake.insert_rows(session, "views", [{**row.columns, "chat_key": chat_key} for row in rows])
