"""What the documentation says about things that are wrong."""

from tests.docs.pages import ROOT, code, table
from tests.services.test_chains_repaired import DAMAGES as OF_SUMMARIES
from tests.services.test_checkup import DAMAGES as OF_DATABASES
from tests.services.test_checkup import UNFIXED as UNFIXED_IN_DATABASES
from tests.support.damage import DAMAGES as OF_CHATS
from tests.support.damage import UNFIXED as UNFIXED_IN_CHATS

ELSEWHERE = {"not_writable", "disk_low", "schema_old", "database_damaged"}


def test_every_finding_is_explained() -> None:
    """The codes in the tables of the operations page are those of the damage that the tests do."""
    damages = [*OF_CHATS, *UNFIXED_IN_CHATS, *OF_DATABASES, *UNFIXED_IN_DATABASES]
    of_summaries = {code for code, _, _ in OF_SUMMARIES.values()}
    known = {damage.split()[0].rstrip(",") for damage in damages} | of_summaries | ELSEWHERE
    rows = table(ROOT / "docs/operations.md", "`code`", "means", "what is done")
    assert {name for row in rows for name in code(row[0])} == known
