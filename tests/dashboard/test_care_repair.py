"""Examining a chat, and putting it right."""

from playwright.sync_api import expect

from tests.support.damage import hurt
from tests.support.dashboard import Dashboard


def test_a_chat_that_is_well(dashboard: Dashboard, chat: str) -> None:
    """Where nothing is wrong, that is said, and there is nothing to repair."""
    dashboard.service.say(chat, *range(13))
    dashboard.open("chats", chat, "care")
    dashboard.button("Examine").click()
    expect(dashboard.section("Repair")).to_contain_text("Nothing found: all is well with this chat.")
    expect(dashboard.button("Repair")).to_have_count(0)


def test_a_chat_is_repaired(dashboard: Dashboard, chat: str) -> None:
    """Findings are listed before anything is done; the repair asks first and says what it put right."""
    service = dashboard.service
    service.say(chat, *range(13))
    rows = f"chat_key = (SELECT key FROM chats WHERE id = '{chat}')"
    hurt(service.database, f"UPDATE messages SET layered_leaf = 99999 WHERE position IN (20, 21) AND {rows}")
    dashboard.open("chats", chat, "care")
    section = dashboard.section("Repair")
    dashboard.button("Examine").click()
    expect(section).to_contain_text("2 findings.")
    expect(section.get_by_role("listitem").first).to_contain_text("leaf_missing")
    dashboard.button("Repair").click()
    asked = dashboard.page.get_by_role("dialog", name="Repair this chat?")
    expect(asked).to_contain_text("No message is lost or changed")
    asked.get_by_role("button", name="Repair").click()
    expect(section).to_contain_text("2 findings put right.")
    expect(section.get_by_role("listitem").first).to_contain_text("put right")
    dashboard.button("Examine").click()
    expect(section).to_contain_text("all is well")
