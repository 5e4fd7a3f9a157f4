"""What is wrong with a chat is found, and put right where there is one right way."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from app.core.facts import Ask
from app.services.repairing import Repairing, find
from app.store import chats
from tests.support.checks import assert_promises
from tests.support.damage import DAMAGES, FREE, NEWEST, SECOND, UNFIXED, backups, hurt, texts
from tests.support.folded import IdleRunner, folded_database, repairing


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folded_database(tmp_path_factory.mktemp("folded"))


@pytest.fixture
def repairs(folded: Path, tmp_path: Path) -> Iterator[Repairing]:
    with repairing(folded, tmp_path / "copy.db") as repairs:
        yield repairs


def test_a_chat_with_a_past_is_well(repairs: Repairing, tmp_path: Path) -> None:
    """After folds, merges, edits, hiding, pinning and deleting there is nothing to find, and nothing is copied."""
    assert repairs.repair("c") == []
    assert repairs.repair("c", dry_run=False) == []
    assert backups(tmp_path / "copy.db") == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_and_put_right(repairs: Repairing, tmp_path: Path, damage: str) -> None:
    """Each kind of damage is found by a dry run, which changes nothing; a repair mends it and all that came of it,
    loses no text, copies the database as it was before, and leaves a chat that keeps the promises.
    """
    copy = tmp_path / "copy.db"
    hurt(copy, *DAMAGES[damage])
    said = texts(copy)
    found = repairs.repair("c")
    assert damage.split()[0] in [finding.code for finding in found]
    assert not any(finding.fixed for finding in found)
    assert backups(copy) == []
    repaired = repairs.repair("c", dry_run=False)
    assert {finding.code for finding in found} <= {finding.code for finding in repaired}
    assert all(finding.fixed for finding in repaired), repaired
    assert repairs.repair("c") == []
    assert_promises(copy, "c", 2)
    assert texts(copy) == said
    assert [texts(backup) for backup in backups(copy)] == [said]


@pytest.mark.parametrize("damage", UNFIXED)
def test_what_only_a_person_can_decide_is_left(repairs: Repairing, tmp_path: Path, damage: str) -> None:
    """What has no one right fix is told with advice, again and again, and nothing is copied for it."""
    hurt(tmp_path / "copy.db", *UNFIXED[damage])
    for dry_run in (True, False, True):
        findings = repairs.repair("c", dry_run=dry_run)
        assert [(finding.code, finding.fixed) for finding in findings] == [(damage, False)]
    assert backups(tmp_path / "copy.db") == []


def test_deleting_one_of_two_that_overlap_helps(repairs: Repairing, tmp_path: Path) -> None:
    """The advice given for snippets that overlap is right: with one of them gone, the rest is mended."""
    copy = tmp_path / "copy.db"
    hurt(copy, *UNFIXED["snippets_overlap"], f"UPDATE snippets SET state = 'deleted' WHERE key = {NEWEST}")
    assert all(finding.fixed for finding in repairs.repair("c", dry_run=False))
    assert repairs.repair("c") == []
    assert_promises(copy, "c", 2)


def standing(repairs: Repairing) -> tuple[int, int, int]:
    """The chat's epoch and memory version, and how many jobs wait."""
    with repairs.db.read() as session:
        query = "SELECT epoch, memory_version, (SELECT count(*) FROM jobs WHERE state = 'queued') FROM chats"
        epoch, version, waiting = session.execute(text(query)).one()
        return epoch, version, waiting


def test_what_is_planned_meanwhile_no_longer_holds(repairs: Repairing, tmp_path: Path) -> None:
    """A repair raises the epoch, and the memory's version by one if its texts are others by then, whatever it did."""
    epoch, version, _ = standing(repairs)
    hurt(tmp_path / "copy.db", *DAMAGES["closes_wrong"])
    repairs.repair("c", dry_run=False)
    assert standing(repairs)[:2] == (epoch + 1, version)
    hurt(tmp_path / "copy.db", *DAMAGES["snippet_empty"], *DAMAGES["parent_dead"])
    repairs.repair("c", dry_run=False)
    assert standing(repairs)[:2] == (epoch + 2, version + 1)


def test_degraded_snippets_are_asked_for(repairs: Repairing, tmp_path: Path) -> None:
    """A repair asks for new texts of degraded snippets and starts the job that makes them; plans go on holding."""
    before = standing(repairs)
    hurt(tmp_path / "copy.db", *DAMAGES["degraded"])
    assert [finding.code for finding in repairs.repair("c", dry_run=False)] == ["degraded"]
    assert standing(repairs) == (before[0], before[1], 1)
    assert isinstance(repairs.runner, IdleRunner)
    assert len(repairs.runner.poked) == 1


def test_a_persons_text_is_not_asked_for(repairs: Repairing, tmp_path: Path) -> None:
    """What a person wrote is not made anew by a repair, stale or degraded as it may be."""
    hurt(
        tmp_path / "copy.db",
        f"UPDATE snippets SET degraded = 1, stale = 1, failures = 3, edited = 1 WHERE key = {SECOND}",
    )
    assert repairs.repair("c", dry_run=False) == []


def test_a_chat_without_memory_is_asked_for_nothing(repairs: Repairing, tmp_path: Path) -> None:
    """Snippets of a strategy the chat does not use are mended, but not made anew."""
    hurt(tmp_path / "copy.db", "UPDATE chats SET strategy = 'none'", *DAMAGES["degraded"], *DAMAGES["leaf_dead"])
    with repairs.db.read() as session:
        chat = chats.find(session, "c")
        assert chat is not None
        found = find(session, chat)
    assert "leaf_dead" in {finding.code for finding in found}
    assert not any(isinstance(finding.fix, Ask) for finding in found)
    assert all(finding.fixed for finding in repairs.repair("c", dry_run=False))


positions, keys = st.integers(0, 46), st.integers(1, 40)
flags = st.sampled_from(["hidden", "pinned", "omitted", "blank", "closes", "skipped"])
marks = st.sampled_from(["stale", "degraded", "edited", "asked"])
states = st.sampled_from(["live", "absorbed", "superseded", "deleted"])
damage = st.one_of(
    st.builds("UPDATE messages SET position = position + {} WHERE position > {}".format, st.just(1000), positions),
    st.builds("UPDATE messages SET position = {} WHERE position = {}".format, positions, positions),
    st.builds("UPDATE messages SET layered_leaf = {} WHERE position = {}".format, keys, positions),
    st.builds("UPDATE messages SET layered_leaf = NULL WHERE position = {}".format, positions),
    st.builds("UPDATE messages SET layered_leaf = NULL WHERE layered_leaf = {}".format, keys),
    st.builds("UPDATE messages SET {} = 1 WHERE position = {}".format, flags, positions),
    st.builds("UPDATE snippets SET {} = 1 WHERE key = {}".format, marks, keys),
    st.builds("UPDATE snippets SET state = '{}' WHERE key = {}".format, states, keys),
    st.builds("UPDATE snippets SET parent_key = {} WHERE key = {}".format, st.integers(1, 60), keys),
    st.builds("UPDATE snippets SET parent_key = NULL WHERE key = {}".format, keys),
    st.builds("UPDATE snippets SET position = {} WHERE key = {}".format, st.integers(-3, 9), keys),
    st.builds("UPDATE snippets SET layer = {} WHERE key = {}".format, st.integers(0, 4), keys),
)


@settings(max_examples=60)
@given(damages=st.lists(damage, min_size=1, max_size=6))
def test_any_damage_is_put_right(folded: Path, tmp_path_factory: pytest.TempPathFactory, damages: list[str]) -> None:
    """Whatever is broken at once: one repair leaves only snippets that overlap, if any; without these the promises are
    kept. A second repair has nothing to do, and no text is lost or changed.
    """
    copy = tmp_path_factory.mktemp("any") / "copy.db"
    with repairing(folded, copy) as repairs:
        hurt(copy, *FREE, *damages)
        said = texts(copy)
        repaired = repairs.repair("c", dry_run=False)
        left = repairs.repair("c")
        assert {finding.code for finding in left} <= {"snippets_overlap"}
        assert {finding.code for finding in left} == {finding.code for finding in repaired if not finding.fixed}
        if not left:
            assert_promises(copy, "c", 1)
        assert texts(copy) == said
