"""Hurting a database in ways its own rules forbid."""

import sqlite3
from contextlib import closing
from pathlib import Path

LIVE = "(SELECT key FROM snippets WHERE state = 'live' ORDER BY layer DESC, position LIMIT 1 OFFSET {})"
ABSORBED = "(SELECT key FROM snippets WHERE state = 'absorbed' ORDER BY key LIMIT 1 OFFSET {})"
FIRST, SECOND, PART = LIVE.format(0), LIVE.format(1), ABSORBED.format(0)
NEWEST = "(SELECT key FROM snippets WHERE state = 'live' ORDER BY layer, position DESC LIMIT 1)"
LEAF_AT = "(SELECT layered_leaf FROM messages WHERE position = {})"
FREE = ("DROP INDEX IF EXISTS uq_messages_place", "DROP INDEX IF EXISTS uq_snippets_place")

DAMAGES = {
    "positions_broken": ["UPDATE messages SET position = position + 100 WHERE position > 12"],
    "positions_broken of doubles": [*FREE, "UPDATE messages SET position = 7 WHERE position IN (8, 9)"],
    "blank_wrong": ["UPDATE messages SET blank = 1 WHERE position = 9"],
    "closes_wrong": ["UPDATE messages SET closes = 1 - closes WHERE position IN (4, 40)"],
    "covered_not_plain": ["UPDATE messages SET hidden = 1 WHERE position = 9"],
    "covered_not_plain of another strategy": ["UPDATE messages SET rolling_leaf = 1, pinned = 1 WHERE position = 40"],
    "prompt_covered": [f"UPDATE messages SET layered_leaf = {LEAF_AT.format(1)} WHERE position = 0"],
    "leaf_missing": ["UPDATE messages SET layered_leaf = 9999 WHERE position IN (5, 6)"],
    "leaf_dead": [f"UPDATE snippets SET state = 'deleted' WHERE key = {FIRST}"],
    "snippet_empty": [f"UPDATE messages SET layered_leaf = NULL WHERE layered_leaf = {NEWEST}"],
    "parent_dead": [f"UPDATE snippets SET parent_key = NULL WHERE key = {PART}"],
    "parent_dead of one that is gone": [f"UPDATE snippets SET parent_key = 9999 WHERE key = {PART}"],
    "parent_cycle": [f"UPDATE snippets SET parent_key = key WHERE key = {PART}"],
    "parent_unexpected": [f"UPDATE snippets SET state = 'live', position = 50 WHERE key = {PART}"],
    "snippets_out_of_order": [*FREE, "UPDATE snippets SET position = 9 - position WHERE state = 'live'"],
    "layer_order": [f"UPDATE snippets SET layer = 2, position = 60 WHERE key = {NEWEST}"],
    "parts_out_of_order": ["UPDATE snippets SET position = -position WHERE state = 'absorbed'"],
    "snippet_not_stale": ["UPDATE messages SET layered_leaf = NULL WHERE position = 4"],
    "stale_waiting": [f"UPDATE snippets SET stale = 1, failures = 3 WHERE key = {SECOND}"],
    "degraded": ["UPDATE snippets SET degraded = 1 WHERE state IN ('live', 'absorbed')"],
    "window_short": [f"UPDATE messages SET layered_leaf = {NEWEST} WHERE layered_leaf IS NULL AND position > 38"],
}
"""What is wrong with the chat of tests.support.folded after these statements; its name begins with the finding's."""

UNFIXED = {
    "snippets_overlap": [f"UPDATE messages SET layered_leaf = {NEWEST} WHERE position = 5"],
    "settings_contradict": ["UPDATE chats SET settings = json_set(settings, '$.layered.snippets_per_promotion', 5)"],
}
"""The same, of what has no one right fix."""


def hurt(database: Path, *statements: str) -> None:
    """Run SQL with foreign keys and checks turned off."""
    with closing(sqlite3.connect(database, timeout=10, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            connection.execute(statement)
        connection.execute("COMMIT")


def texts(database: Path) -> list[tuple[str, str, str, str]]:
    """What every message says, in order, with its chat and id."""
    with closing(sqlite3.connect(database, timeout=10)) as connection:
        return connection.execute(
            "SELECT c.id, m.id, m.role, m.content FROM messages m JOIN chats c ON c.key = m.chat_key ORDER BY m.key"
        ).fetchall()


def backups(database: Path, why: str = "before-repair") -> list[Path]:
    """The copies beside it."""
    return sorted(database.parent.glob(f"{database.name}.{why}-*"))
