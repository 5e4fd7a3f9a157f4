"""Finding things said in a chat, and what was made of them."""

from dataclasses import dataclass
from typing import Literal

from app.core.excerpts import excerpt
from app.errors import InvalidRequest
from app.services.reading import require_chat
from app.store import search
from app.store.engine import Database
from app.store.search import Found
from app.store.words import read_query

MOST_QUERY_CHARS = 500


@dataclass(frozen=True, slots=True)
class HitView:
    """A message or a snippet with what was looked for, best first by `score`.

    A message is at `index` and under the snippet `snippet_id`, its leaf; null if nothing covers it. A snippet hit has
    its own id and the index of the first message under it.
    """

    kind: Literal["message", "snippet"]
    message_id: str | None
    snippet_id: str | None
    index: int | None
    excerpt: str
    score: float


@dataclass(frozen=True)
class Searching:
    """Searches chats."""

    db: Database

    def search(self, chat_id: str, query: str, limit: int) -> list[HitView]:
        """The best hits for the words of a query; nothing for one without a letter or digit.

        Raises InvalidRequest for a query that is blank or too long, NotFound for an unknown chat.
        """
        if not query.strip() or len(query) > MOST_QUERY_CHARS:
            raise InvalidRequest(f"Say what to search for, in at most {MOST_QUERY_CHARS} characters.")
        parts = read_query(query)
        wanted = [part.text for part in parts]
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            hits = search.find(session, chat.key, chat.strategy, parts, limit)
            return [_show(found, wanted) for found in search.read(session, chat.key, chat.strategy, hits)]


def _show(found: Found, wanted: list[str]) -> HitView:
    return HitView(
        kind=found.hit.kind,
        message_id=found.message_id,
        snippet_id=found.snippet_id,
        index=found.index,
        excerpt=excerpt(found.text, wanted),
        score=found.hit.score,
    )
