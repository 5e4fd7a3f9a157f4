"""Earlier texts of snippets and steps that can be taken back, in the database."""

from sqlalchemy import delete, func, select
from sqlmodel import Session, col

from app.store import versions
from app.store.engine import Database
from app.store.kept_tables import SnippetVersion, UndoStep
from app.store.tables import Snippet
from tests.support.rows import add_chat, add_snippet


def add(session: Session, position: int = 0, **what: object) -> Snippet:
    return session.get_one(Snippet, add_snippet(session, 1, 0, position, **what))


def steps(session: Session) -> int:
    return int(session.execute(select(func.count()).select_from(UndoStep)).scalar_one())


def test_a_text_is_kept_with_its_marks(db: Database) -> None:
    """Everything an undo writes back is kept, and pages go from the newest text to the oldest."""
    with db.write() as session:
        add_chat(session)
        snippet, other = add(session, degraded=True, connection="local", model="m"), add(session, 1)
        versions.keep(session, other, "edit")
        first = versions.keep(session, snippet, "edit")
        snippet.text, snippet.stale, snippet.edited = "Mine.", True, True
        second = versions.keep(session, snippet, "heal")
        [newest, oldest] = versions.page(session, snippet.key, None, 10)
        assert (newest.key, newest.text, newest.why, newest.stale, newest.edited) == (
            second,
            "Mine.",
            "heal",
            True,
            True,
        )
        assert (oldest.key, oldest.degraded, oldest.connection, oldest.model) == (first, True, "local", "m")
        assert [version.key for version in versions.page(session, snippet.key, None, 1)] == [second]
        assert [version.key for version in versions.page(session, snippet.key, second, 10)] == [first]


def test_changed_since(db: Database) -> None:
    """A text is out of date if it, or any text after it, was found stale; earlier ones say nothing about it."""
    with db.write() as session:
        add_chat(session)
        snippet = add(session, stale=True)
        keys = [versions.keep(session, snippet, "heal")]
        snippet.stale = False
        keys.append(versions.keep(session, snippet, "regenerate"))
        found = [session.get_one(SnippetVersion, key) for key in keys]
        assert [versions.stale_since(session, version) for version in found] == [True, False]
        snippet.stale = True
        versions.keep(session, snippet, "heal")
        assert [versions.stale_since(session, version) for version in found] == [True, True]


def test_steps_go_newest_first_within_a_strategy(db: Database) -> None:
    """The newest step on a snippet of the present strategy is found, until it is dropped."""
    with db.write() as session:
        add_chat(session)
        one, two = add(session), add(session, id="other", strategy="rolling")
        for snippet in (one, two, one, two):
            versions.note_step(session, 1, "manual", snippet.key)
        found = []
        while step := versions.newest_step(session, 1, "layered"):
            found.append(step.key)
            versions.drop_step(session, step.key)
        assert found == [3, 1]
        assert steps(session) == 2
        assert versions.newest_step(session, 1, "none") is None


def test_only_the_newest_steps_are_kept(db: Database) -> None:
    """A chat keeps a hundred steps, whatever other chats have."""
    with db.write() as session:
        add_chat(session)
        other = add_chat(session, "d")
        mine, theirs = add(session), add_snippet(session, other.key, 0, 0)
        versions.note_step(session, other.key, "manual", theirs)
        for _ in range(versions.MOST_STEPS + 3):
            versions.note_step(session, 1, "manual", mine.key)
        assert steps(session) == versions.MOST_STEPS + 1
        newest = versions.newest_step(session, 1, "layered")
        assert newest is not None
        assert newest.key == versions.MOST_STEPS + 4


def test_what_goes_takes_its_steps_along(db: Database) -> None:
    """With a snippet go its texts and the steps on it."""
    with db.write() as session:
        add_chat(session)
        snippet = add(session)
        version = versions.keep(session, snippet, "edit")
        versions.note_step(session, 1, "edit", snippet.key, version)
        versions.note_step(session, 1, "delete", snippet.key, covered={"1": [[1, 0]]})
        session.execute(delete(Snippet).where(col(Snippet.key) == snippet.key))
        assert steps(session) == 0
        assert versions.page(session, snippet.key, None, 10) == []
