"""Everything of a chat as records of our own file format: what is stored, with ids in place of the database's keys."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlmodel import Session

from app.formats.turnfold import CHAT_SHAPE, write_turnfold
from app.store import snippets, streams
from app.store.streams import Row
from app.store.tables import Chat

# Where a row says "nothing" with an empty list or object, the file says nothing.
_EMPTY = ("tool_calls", "extra", "usage", "settings")


def dump(session: Session, chat: Chat, messages: Iterable[Row]) -> Iterator[str]:
    """The text of a file, line by line; `messages` are the rows of streams.stream_whole."""
    parts = [part for part, count in streams.count_parts(session, chat.key).items() if count]
    about = _plain({name: getattr(chat, name) for name in CHAT_SHAPE.fields})
    return write_turnfold(about, parts, _records(session, chat.key, messages))


def _records(session: Session, chat_key: int, messages: Iterable[Row]) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in messages:
        yield "message", {**_said(row), "index": row["position"]}
    for row in streams.stream_snippets(session, chat_key):
        yield "snippet", _plain(row)
    for row in streams.stream_kept(session, chat_key):
        yield "kept_message", {**row, **_said(row["snapshot"]), "index": row["position"]}
    for row in streams.stream_versions(session, chat_key):
        yield "snippet_version", dict(row)
    for row in streams.stream_steps(session, chat_key):
        covered = _covered(session, row) if row["covered"] is not None else None
        yield "undo_step", {**row, "version": row["number"], "covered": covered}
    for row in streams.stream_views(session, chat_key):
        yield "view", dict(row)


def _said(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**_plain(row), "history": "omit" if row["omitted"] else "keep"}


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, **{name: row[name] or None for name in _EMPTY if name in row}}


def _covered(session: Session, step: Row) -> dict[str, Any]:
    """The messages that a deletion uncovered, by the id of their leaf: runs of indices with one revision each."""
    known = set(snippets.leaves_under(session, step["snippet_key"]))
    # With nothing of its own: what a summary went on from (Revising.delete).
    by_leaf = {int(key): found for key, found in step["covered"].items() if int(key) in known or not found}
    ids = snippets.ids_of(session, list(by_leaf))
    runs = {ids[leaf]: _runs(session, found) for leaf, found in by_leaf.items() if leaf in ids}
    return dict(sorted(runs.items(), key=lambda item: (item[1]["runs"][:1], item[0])))


def _runs(session: Session, found: Sequence[Sequence[int]]) -> dict[str, Any]:
    places = streams.places_of(session, [key for key, _ in found])
    standing = sorted((places[key], revision) for key, revision in found if key in places)
    runs: list[list[int]] = []
    for index, revision in standing:
        if runs and runs[-1][1] == index - 1 and runs[-1][2] == revision:
            runs[-1][1] = index
        else:
            runs.append([index, index, revision])
    return {"runs": runs, "gone": len(places) < len(found)}
