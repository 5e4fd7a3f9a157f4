"""What absorbed what."""

from app.core.facts import Relink, StoredSnippet
from app.core.lineage import check_parents, roots_of


def snippet(key: int, state: str = "live", parent: int | None = None) -> StoredSnippet:
    return StoredSnippet(key, f"s{key}", layer=0, position=key, state=state, parent=parent)


def test_a_tree_is_well() -> None:
    """Parts of what is live have it as their root; those of what was deleted have none, and nothing is wrong there."""
    tree = [
        *(snippet(1), snippet(2, "absorbed", 1), snippet(3, "absorbed", 2)),
        *(snippet(4, "deleted"), snippet(5, "absorbed", 4), snippet(6, "superseded")),
    ]
    assert check_parents(tree) == (tree, [])
    assert roots_of(tree) == {1: 1, 2: 1, 3: 1, 4: None, 5: None, 6: None}


def test_a_circle_is_broken() -> None:
    """Snippets that absorbed each other go; what hangs from them has no root."""
    circle = [snippet(1, "absorbed", 2), snippet(2, "absorbed", 1), snippet(3, "absorbed", 1)]
    mended, [finding] = check_parents(circle)
    assert (finding.code, finding.fix) == ("parent_cycle", Relink(((1, "deleted", None), (2, "deleted", None))))
    assert "s1, s2" in finding.detail
    assert roots_of(mended) == {1: None, 2: None, 3: None}


def test_a_parent_that_is_not_there() -> None:
    """A part of nothing goes, whether it names a snippet that is not there or none."""
    mended, [finding] = check_parents([snippet(1, "absorbed", 9), snippet(2, "absorbed")])
    assert finding.code == "parent_dead"
    assert [(one.state, one.parent) for one in mended] == [("deleted", None)] * 2


def test_a_parent_too_many() -> None:
    """What is live and yet a part of what is in the prompt is a part; a parent that is gone is nobody's."""
    found = [
        *(snippet(1), snippet(2, "live", 1)),
        *(snippet(3, "deleted"), snippet(4, "live", 3), snippet(5, "superseded", 1)),
    ]
    mended, [finding] = check_parents(found)
    assert finding.code == "parent_unexpected"
    assert [(one.state, one.parent) for one in mended] == [
        *(("live", None), ("absorbed", 1)),
        *(("deleted", None), ("live", None), ("superseded", None)),
    ]
