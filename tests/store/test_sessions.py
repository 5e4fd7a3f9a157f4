"""Sessions are rows among the chats that nobody takes for chats."""

from app.store import chats, integrity, sessions
from app.store.clock import now_ms
from app.store.engine import Database


def test_they_are_found_by_their_chat(db: Database) -> None:
    """The same name in two chats is two sessions, however long it is."""
    with db.write() as session:
        one, other = (chats.add(session, name, {}) for name in ("c" * 200, "d" * 200))
        for name in ("dinner", "s" * 200):
            added = sessions.add(session, one, name, {})
            assert len(added.id) <= 200
            assert sessions.find(session, one, name) is added
            assert sessions.find(session, other, name) is None


def test_no_list_has_them(db: Database) -> None:
    """Neither the list of chats nor the doctor's."""
    with db.write() as session:
        sessions.add(session, chats.add(session, "c", {}), "dinner", {})
        assert [chat.id for chat in chats.page(session, None, 10)] == ["c"]
        assert integrity.chat_ids(session) == ["c"]


def test_they_go_after_thirty_idle_minutes_or_with_their_chat(db: Database) -> None:
    """Until then they stay."""
    with db.write() as session:
        chat, other = chats.add(session, "c", {}), chats.add(session, "d", {})
        idle, used = (sessions.add(session, chat, name, {}) for name in ("idle", "used"))
        assert not sessions.any_over(session)
        idle.used_at, used.used_at = now_ms() - sessions.IDLE_MS - 1, now_ms() - sessions.IDLE_MS + 10_000
        session.flush()
        assert (sessions.is_over(idle), sessions.is_over(used), sessions.any_over(session)) == (True, False, True)
        sessions.purge(session)
        assert [sessions.find(session, chat, name) for name in ("idle", "used")] == [None, used]
        chats.remove(session, chat.key)
        session.expire_all()
        assert sessions.find(session, other, "used") is None
        assert chats.find(session, "c/session/used") is None
