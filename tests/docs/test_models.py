"""What models.md says of counting tokens is what the program does."""

from app.core.families import FAMILIES, family_of
from tests.docs.pages import ROOT, code, table

ROWS = table(ROOT / "docs" / "models.md", "family", "names such as")


def test_every_family_is_explained() -> None:
    """The families are those of the program, in its order, each with its vocabulary and its factor."""
    shown = [(code(row[0])[0], code(row[2])[0], row[3]) for row in ROWS]
    assert shown == [(family.name, family.vocabulary, f"{family.factor:.2f}") for family in FAMILIES]


def test_names_are_of_their_family() -> None:
    """Each name that stands beside a family belongs to it."""
    names = [(code(row[0])[0], name) for row in ROWS for name in code(row[1])]
    assert [(family_of(name).name, name) for _, name in names] == names
