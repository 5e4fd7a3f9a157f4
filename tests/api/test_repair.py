"""POST …/repair over HTTP."""

from pathlib import Path

import pytest

from tests.support.checks import assert_promises
from tests.support.damage import backups, hurt, texts
from tests.support.service import Service


@pytest.fixture
def folded(service: Service, chat: str) -> str:
    """A chat with a snippet over its first three turns."""
    service.say(chat, *range(1, 14))
    return chat


def mine(chat: str) -> str:
    """The chat's key, in SQL."""
    return f"(SELECT key FROM chats WHERE id = '{chat}')"


def test_a_healthy_chat_has_no_findings(service: Service, folded: str) -> None:
    """There is nothing to find in a chat that was folded, and no copy is made."""
    for body in (None, {}, {"dry_run": True}, {"dry_run": False}):
        answer = service.post(f"/chats/{folded}/repair", body)
        assert (answer.status_code, answer.json()) == (200, {"findings": []}), body
    assert backups(service.database) == []


def test_a_dry_run_changes_nothing(service: Service, folded: str) -> None:
    """Without a body, and by default, what is wrong is said and left."""
    hurt(service.database, f"UPDATE messages SET closes = 0 WHERE chat_key = {mine(folded)} AND position = 3")
    for _ in range(2):
        [finding] = service.post(f"/chats/{folded}/repair").json()["findings"]
        assert (finding["code"], finding["fixed"]) == ("closes_wrong", False)
        assert "1 message wrongly noted as the end of a turn, or wrongly not (index 3)" in finding["detail"]
    assert backups(service.database) == []


def test_a_repair_fixes_and_leaves_a_copy(service: Service, folded: str) -> None:
    """What has one right fix is fixed, a copy from before lies beside the database, and no text has changed."""
    hurt(service.database, f"UPDATE messages SET hidden = 1 WHERE chat_key = {mine(folded)} AND position = 2")
    said, version = texts(service.database), service.status(folded)["memory_version"]
    answer = service.post(f"/chats/{folded}/repair", {"dry_run": False})
    assert answer.status_code == 200
    assert [(finding["code"], finding["fixed"]) for finding in answer.json()["findings"]] == [
        ("covered_not_plain", True)
    ]
    [copy] = backups(service.database)
    assert copy.stat().st_mode & 0o777 == 0o600
    assert texts(copy) == texts(service.database) == said
    found = service.settled(folded)
    assert (found["counts"]["hidden"], found["stale_snippets"]) == (1, 0)
    assert found["memory_version"] == version + 1  # by healing; the repair itself has left every text as it was
    assert service.post(f"/chats/{folded}/repair").json() == {"findings": []}
    assert_promises(service.database, folded)


def test_without_a_copy_nothing_is_touched(service: Service, folded: str, tmp_path: Path) -> None:
    """Where no copy can be made the answer is a 409 that says so, and all stays as it was."""
    hurt(service.database, f"UPDATE messages SET blank = 1 WHERE chat_key = {mine(folded)} AND position = 2")
    for copy in backups(service.database):
        copy.unlink()
    away = service.database.rename(tmp_path / "away.db")  # an open database goes on; its name does not
    try:
        answer = service.post(f"/chats/{folded}/repair", {"dry_run": False})
    finally:
        away.rename(service.database)
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert answer.json()["detail"].startswith("Nothing was changed, because no backup could be made first.")
    assert [finding["code"] for finding in service.post(f"/chats/{folded}/repair").json()["findings"]] == [
        "blank_wrong"
    ]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/chats/nobody/repair", {}, 404),
        ("/chats/nobody/repair", {"dry_run": "maybe"}, 422),
        ("/chats/nobody/repair", {"force": True}, 422),
        ("/chats/nobody/repair", [], 422),
    ],
)
def test_what_is_refused(service: Service, path: str, body: object, status: int) -> None:
    """An unknown chat is a 404, a body that is not of this shape a 422."""
    answer = service.post(path, body)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
