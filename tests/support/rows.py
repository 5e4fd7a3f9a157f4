"""Rows of a database, made with as little as their tables demand."""

from collections.abc import Sequence
from typing import Any

from sqlmodel import Session

from app.store import chats, messages, snippets
from app.store.messages import Leaf, leaf_of
from app.store.tables import Chat, Snippet


def _layered() -> Leaf:
    leaf = leaf_of("layered")
    assert leaf is not None
    return leaf


LAYERED = _layered()


def add_chat(session: Session, chat_id: str = "c") -> Chat:
    """An empty chat."""
    return chats.add(session, chat_id, {})


def message(chat_key: int, position: int, **what: Any) -> dict[str, Any]:
    """A message: a user line at an even place, a reply that closes a turn at an odd one."""
    reply = position % 2 == 1
    return {
        "chat_key": chat_key,
        "position": position,
        "id": f"m{position}",
        "role": "assistant" if reply else "user",
        "closes": reply,
        "content": f"Line {position}.",
        "tokens": 5,
        "created_at": 0,
        **what,
    }


def add_messages(session: Session, chat_key: int, count: int, start: int = 0) -> None:
    """Messages in turns of two."""
    messages.insert_many(session, [message(chat_key, place) for place in range(start, start + count)])


def snippet(chat_key: int, layer: int, position: int, **what: Any) -> Snippet:
    """A live snippet that covers nothing yet."""
    values: dict[str, Any] = {
        "id": f"s{layer}.{position}",
        "strategy": "layered",
        "kind": "fold",
        "text": f"Layer {layer}, place {position}.",
        "tokens": 4,
        "source_tokens": 10,
        "created_at": 0,
        **what,
    }
    return Snippet(chat_key=chat_key, layer=layer, position=position, **values)


def add_snippet(session: Session, chat_key: int, layer: int, position: int, **what: Any) -> int:
    """The same stored; its key."""
    return snippets.add(session, snippet(chat_key, layer, position, **what)).key


def keys_at(session: Session, chat_key: int, places: Sequence[int]) -> list[int]:
    """The keys of the messages at these places, in their order."""
    found = messages.by_ids(session, chat_key, [f"m{place}" for place in places])
    return [found[f"m{place}"].key for place in places]


def add_leaf(session: Session, chat_key: int, layer: int, position: int, places: Sequence[int], **what: Any) -> int:
    """A live snippet of layered memory that covers the messages at these places; its key."""
    key = add_snippet(session, chat_key, layer, position, **what)
    messages.cover(session, keys_at(session, chat_key, places), LAYERED, key)
    return key
