"""What is read of a chat before its next fold."""

from itertools import product
from pathlib import Path

from app.core.folding import AUTO, DRAIN, FORCE
from app.services.reading import read_head
from app.store.engine import Database
from tests.support.parts import lay_database
from tests.support.rows import add_chat, add_leaf, add_messages

LENGTHS = (60, 100, 400)
COVERED = ((), (0, 1), (60, 61), (90, 91))


def test_a_rough_look_plans_the_same_fold(tmp_path: Path) -> None:
    """However long the backlog, and wherever something is covered already, the next fold is the same in every mode."""
    lay_database(tmp_path / "turnfold.db")
    database = Database(f"sqlite:///{tmp_path / 'turnfold.db'}")
    longer = 0
    for length, covered in product(LENGTHS, COVERED):
        with database.write() as session:
            chat = add_chat(session, f"{length} {covered}")
            add_messages(session, chat.key, length)
            if covered and covered[-1] < length:
                add_leaf(session, chat.key, 0, 0, covered)
            rough, exact = read_head(session, chat, rough=True), read_head(session, chat)
            assert all(rough.fold(mode) == exact.fold(mode) for mode in (AUTO, DRAIN, FORCE))
            assert (rough.has_backlog, rough.total) == (exact.has_backlog, exact.total)
            assert (rough.uncovered, rough.later > 0) == (exact.uncovered, exact.later > 0)
            longer += rough.later < exact.later
    database.dispose()
    assert longer
