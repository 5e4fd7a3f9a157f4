"""Texts of a database that are searched."""

from sqlmodel import Session

from app.store import messages, search
from app.store.words import read_query
from tests.support.rows import message


def add_texts(session: Session, chat_key: int, *said: str | None, start: int = 0) -> None:
    """Messages m0, m1 … that say this."""
    messages.insert_many(session, [message(chat_key, start + n, content=words) for n, words in enumerate(said)])


def found(session: Session, chat_key: int, query: str, limit: int = 50) -> list[str]:
    """The ids of what a query finds in layered memory, best first: of messages, else of snippets."""
    hits = search.find(session, chat_key, "layered", read_query(query), limit)
    read = search.read(session, chat_key, "layered", hits)
    return [hit.message_id or hit.snippet_id or "" for hit in read]
