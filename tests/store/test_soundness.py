"""app.store.soundness: what would break a promise is found in the database, whatever put it there."""

from collections.abc import Sequence

from sqlmodel import Session

from app.store import soundness
from app.store.engine import Database
from app.store.messages import cover
from app.store.soundness import Range
from app.store.tables import Snippet
from tests.support.rows import LAYERED, add_chat, add_messages, add_snippet, keys_at


def absorb(session: Session, key: int, parent: int) -> None:
    snippet = session.get_one(Snippet, key)
    snippet.state, snippet.parent_key = "absorbed", parent
    session.flush()


def over(session: Session, chat_key: int, places: Sequence[int], key: int) -> None:
    cover(session, keys_at(session, chat_key, places), LAYERED, key)


def test_a_chain_without_end(db: Database) -> None:
    """Snippets that absorb each other have no root; those that are under one have."""
    with db.write() as session:
        chat = add_chat(session)
        keys = [add_snippet(session, chat.key, layer, 0) for layer in range(4)]
        absorb(session, keys[0], keys[1])
        assert soundness.first_rootless(session, chat.key) is None
        absorb(session, keys[2], keys[3])
        absorb(session, keys[3], keys[2])
        assert soundness.first_rootless(session, chat.key) == "s2.0"


def test_a_message_under_what_is_gone(db: Database) -> None:
    """A leaf must be live, or a part of what is; deleted roots do not count, nor do those of another strategy."""
    with db.write() as session:
        chat = add_chat(session)
        add_messages(session, chat.key, 4)
        part, whole, gone, lost = (add_snippet(session, chat.key, layer, 0) for layer in range(4))
        absorb(session, part, whole)
        over(session, chat.key, [0, 1], part)
        assert soundness.first_stranded(session, chat.key, "layered", LAYERED) is None
        session.get_one(Snippet, gone).state = "deleted"
        absorb(session, lost, gone)
        over(session, chat.key, [3], lost)
        assert soundness.first_stranded(session, chat.key, "layered", LAYERED) == ("m3", "s3.0")


def test_ranges_come_in_reading_order(db: Database) -> None:
    """Deepest layer first, through whatever layers; a live snippet with nothing under it has no range."""
    with db.write() as session:
        chat = add_chat(session)
        add_messages(session, chat.key, 6)
        newest, bare = add_snippet(session, chat.key, 0, 5), add_snippet(session, chat.key, 0, 7)
        part, whole = add_snippet(session, chat.key, 0, 0), add_snippet(session, chat.key, 1, 0)
        absorb(session, part, whole)
        over(session, chat.key, [0, 2], part)
        over(session, chat.key, [4, 5], newest)
        assert bare > newest
        assert list(soundness.live_ranges(session, chat.key, "layered", LAYERED)) == [
            Range("s1.0", 0, 2),
            Range("s0.5", 4, 5),
            Range("s0.7", None, None),
        ]
