"""A chat of a hundred thousand messages with a full memory, written into the tables in a second or two."""

from pathlib import Path

from app.store import messages
from app.store.engine import Database
from tests.support.rows import add_chat, add_snippet, message

MESSAGES, LAYERS, PER_LAYER = 100_000, 5, 30
WINDOW = 20
"""Messages that are word for word."""


def add_large_chat(database: Path, chat_id: str) -> None:
    """Layers full of snippets, the deepest for the oldest messages, of as many messages each as there can be."""
    db = Database(f"sqlite:///{database}")
    snippets = LAYERS * PER_LAYER
    each = (MESSAGES - WINDOW) // snippets // 2 * 2
    with db.write() as session:
        chat = add_chat(session, chat_id)
        places = [(layer, place) for layer in reversed(range(LAYERS)) for place in range(PER_LAYER)]
        leaves = [add_snippet(session, chat.key, layer, place) for layer, place in places]
        covered = [leaf for leaf in leaves for _ in range(each)]
        covered += [leaves[-1]] * (MESSAGES - WINDOW - len(covered))
        told = [message(chat.key, place, layered_leaf=leaf) for place, leaf in enumerate(covered)]
        said = [message(chat.key, place, layered_leaf=None) for place in range(len(covered), MESSAGES)]
        messages.insert_many(session, [*told, *said])
    db.engine.dispose()
