"""What a frontend compares its history with."""

from dataclasses import dataclass

from app.core.digest import Digest, digest
from app.services.reading import require_chat
from app.store import streams
from app.store.engine import Database


@dataclass(frozen=True)
class Digesting:
    """Reads whole histories for their checksum; a few messages are held at a time."""

    db: Database

    def digest(self, chat_id: str) -> Digest:
        """Of the stored history. Raises NotFound."""
        with self.db.read() as session:
            return digest(streams.stream_lines(session, require_chat(session, chat_id).key))
