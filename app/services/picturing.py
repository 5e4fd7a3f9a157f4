"""A chat's memory and history as a picture, without a word of what was said."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row
from sqlmodel import Session

from app.core.model import Outline, Span, Strategy
from app.core.resolving import resolve
from app.core.settings import ChatSettings
from app.core.strata import Stretch, Under, draw, reopen, tail_of, whole, window_of
from app.core.turns import outline
from app.services.foreseeing import Foreseeing
from app.services.reading import Place, require_chat
from app.store import chats, jobs, messages, strata
from app.store.engine import Database
from app.store.tables import Chat

_MOST_PINNED = 200
_TAIL = 256
"""Messages that hold a usual window."""


@dataclass(frozen=True, slots=True)
class SnippetSketch:
    """A live snippet; first and last index of what is under it are null where nothing is."""

    id: str
    position: int
    kind: str
    first_index: int | None
    last_index: int | None
    turns: int
    messages: int
    tokens: int
    source_tokens: int
    stale: bool
    degraded: bool
    edited: bool


@dataclass(frozen=True, slots=True)
class LayerSketch:
    """A layer and its live snippets in reading order."""

    layer: int
    limit: int
    snippets: list[SnippetSketch]


@dataclass(frozen=True, slots=True)
class WindowSketch:
    """The newest turns, which do not fold yet: how many, and the index of the first message of them."""

    first_index: int | None
    turns: int


@dataclass(frozen=True, slots=True)
class Strata:
    """The picture; shapes as in docs/api.md, The strata."""

    strategy: str
    memory_version: int
    messages: int
    turns: int
    raw_tokens: int
    layers: list[LayerSketch]
    stretches: list[Stretch]
    pinned: list[Place]
    window: WindowSketch
    folding: list[Span]


@dataclass(frozen=True, slots=True)
class Grain:
    """How finely a history is looked at: so many uncovered messages one by one, and so many between them; of a history
    with more the messages are counted together in about so many cells.
    """

    single: int = 5000
    torn: int = 20_000
    cells: int = 4000


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is stored of a chat: what its history is drawn from, and the turns behind the newest covered message."""

    total: int
    raw_tokens: int
    pieces: list[Stretch]
    layers: list[LayerSketch]
    pinned: list[Place]
    window: WindowSketch
    tail: Outline


@dataclass(frozen=True)
class Picturing:
    """Draws chats."""

    db: Database
    foreseeing: Foreseeing
    grain: Grain = Grain()

    def strata(self, chat_id: str) -> Strata:
        """What a chat's memory stands for, and where. Raises NotFound."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            active = jobs.active(session, chat.key)
            folding = self.foreseeing.next_folds(session, chat, active) if active else []
            return _picture(chat, _look(session, chat, self.grain), folding)


def _look(session: Session, chat: Chat, grain: Grain) -> _Seen:
    total, server = chats.surroundings(session, chat.key)
    settings = resolve(server, chat.settings)[0]
    covered = strata.roots(session, chat.key, chat.strategy)
    pieces, raw_tokens = _pieces(session, chat, covered, total, grain)
    window, tail = _window(session, chat, settings, total)
    pinned = [Place(*row) for row in strata.pinned(session, chat.key, _MOST_PINNED)]
    return _Seen(total, raw_tokens, pieces, _layers(session, chat, settings, covered), pinned, window, tail)


def _picture(chat: Chat, seen: _Seen, folding: list[Span]) -> Strata:
    stretches = reopen(draw(seen.pieces), [message.index for message in seen.tail.open if message.closes])
    return Strata(
        strategy=chat.strategy,
        memory_version=chat.memory_version,
        messages=seen.total,
        turns=sum(stretch.turns for stretch in stretches),
        raw_tokens=seen.raw_tokens,
        layers=seen.layers,
        stretches=stretches,
        pinned=seen.pinned,
        window=seen.window,
        folding=folding,
    )


def _pieces(session: Session, chat: Chat, covered: list[Under], total: int, grain: Grain) -> tuple[list[Stretch], int]:
    """What the history is drawn from, and the tokens of what is not hidden.

    `covered`: what the live snippets stand for. If little lies beside and between it, that is looked at one by one.
    """
    loose = strata.loose(session, chat.key, chat.strategy, grain.single + 1)
    if len(loose) > grain.single:
        return _from_cells(session, chat, total, grain)
    torn = [under.key for under in covered if under.torn]
    leaves = strata.leaves(session, chat.key, chat.strategy, torn)
    rent = [leaf for leaf in leaves if leaf.torn]
    if sum(leaf.messages for leaf in rent) > grain.torn:
        return _from_cells(session, chat, total, grain)
    parts = strata.parts(session, chat.key, chat.strategy, [leaf.key for leaf in rent])
    pieces = [*loose, *whole(covered), *whole(leaves), *parts]
    return pieces, sum(piece.tokens for piece in pieces if piece.state != "hidden")


def _from_cells(session: Session, chat: Chat, total: int, grain: Grain) -> tuple[list[Stretch], int]:
    """The same of a history that is too much in pieces: where few cells hold several states, these are looked into."""
    cells = strata.cells(session, chat.key, chat.strategy, max(1, total // grain.cells))
    pieces = [cell.stretch for cell in cells]
    mixed = [piece for piece in pieces if piece.state == "mixed"]
    if sum(piece.messages for piece in mixed) <= grain.single:
        pure = [piece for piece in pieces if piece.state != "mixed"]
        found = (strata.between(session, chat.key, chat.strategy, piece[0], piece[1]) for piece in mixed)
        pieces = [*pure, *(single for some in found for single in some)]
    return pieces, sum(cell.tokens - cell.hidden_tokens for cell in cells)


def _window(session: Session, chat: Chat, settings: ChatSettings, total: int) -> tuple[WindowSketch, Outline]:
    """The window, and the turns behind the newest covered message as far as they were read."""
    most = _TAIL
    while True:
        newest = messages.newest_uncovered(session, chat.key, chat.strategy, most)
        tail = tail_of(newest, total)
        view = outline(tail, total)
        turns = window_of(view, chat.strategy, settings)
        if len(tail) < most or len(turns) < len(view.turns) or chat.strategy == Strategy.NONE:
            break
        most *= 4
    return WindowSketch(turns[0].messages[0].index if turns else None, len(turns)), view


def _layers(session: Session, chat: Chat, settings: ChatSettings, covered: list[Under]) -> list[LayerSketch]:
    """The layers, deepest first."""
    under = {found.key: found for found in covered}
    limit = settings.layered.snippets_per_layer if chat.strategy == Strategy.LAYERED else 1
    found: dict[int, list[SnippetSketch]] = {}
    for row in strata.live(session, chat.key, chat.strategy):
        found.setdefault(row.layer, []).append(_sketch(row, under.get(row.key)))
    return [LayerSketch(layer, limit, found.get(layer, [])) for layer in range(max(found, default=-1), -1, -1)]


def _sketch(row: Row[Any], under: Under | None) -> SnippetSketch:
    return SnippetSketch(
        id=row.id,
        position=row.position,
        kind=row.kind,
        first_index=under.first_index if under else None,
        last_index=under.last_index if under else None,
        turns=under.turns if under else 0,
        messages=under.messages if under else 0,
        tokens=row.tokens,
        source_tokens=row.source_tokens,
        stale=row.stale,
        degraded=row.degraded,
        edited=row.edited,
    )
