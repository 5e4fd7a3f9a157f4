"""A damaged chat can be read and repaired."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from httpx import ASGITransport, AsyncClient

from app.main import create_app
from app.services.exporting import FORMATS
from tests.support.damage import DAMAGES, UNFIXED, hurt
from tests.support.folded import folded_database
from tests.support.parts import assembled

DEAD = "UPDATE snippets SET state = 'deleted', parent_key = NULL"
GONE = {
    "no live snippet is left": [DEAD],
    "no leaf is left": [DEAD, "UPDATE messages SET layered_leaf = 9999 WHERE layered_leaf IS NOT NULL"],
    "what was never covered, and no leaf": [
        DEAD,
        "UPDATE messages SET layered_leaf = CASE WHEN position > 8 THEN 9999 END WHERE layered_leaf IS NOT NULL",
    ],
}
"""Messages that point at what is not there."""
READ = (
    *("", "/status", "/strata", "/growth", "/snippets", "/messages", "/projection", "/preview", "/digest"),
    *("/diagnostics", "/search?q=gate", "/projection?explain=true", *(f"/export?format={name}" for name in FORMATS)),
)


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folded_database(tmp_path_factory.mktemp("folded"))


@pytest.fixture(scope="module")
def served(folded: Path) -> Iterator[Callable[..., AsyncClient]]:
    """A client of an application whose database is a copy of the folded one, after these statements."""
    copy = folded.with_name("copy.db")
    parts = assembled(copy)
    app = create_app(server=parts)

    def client(*statements: str) -> AsyncClient:
        parts.db.dispose()
        for suffix in ("-wal", "-shm"):
            copy.with_name(copy.name + suffix).unlink(missing_ok=True)
        shutil.copy(folded, copy)
        hurt(copy, *statements)
        return AsyncClient(transport=ASGITransport(app), base_url="http://127.0.0.1/v1/chats")

    yield client
    parts.db.dispose()


@pytest.mark.parametrize("damage", [*DAMAGES, *UNFIXED, *GONE])
async def test_it_stays_readable_and_repairable(served: Callable[..., AsyncClient], damage: str) -> None:
    """Whatever is wrong with it, all that shows a chat answers, and so does a repair."""
    async with served(*{**DAMAGES, **UNFIXED, **GONE}[damage]) as client:
        assert {path: (await client.get(f"/c{path}")).status_code for path in READ} == dict.fromkeys(READ, 200)
        for dry_run in (True, False):
            repaired = await client.post("/c/repair", json={"dry_run": dry_run})
            assert repaired.status_code == 200, repaired.text
        assert (await client.get("/c/status")).status_code == 200
