"""An index of all words, kept by triggers; SQLite only: elsewhere searching looks through the texts themselves"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# One table for messages and snippets, so that their ranks compare: messages have even numbers, snippets odd ones. It
# holds no texts (content=''), so a row is taken out by saying what was put in: `turnfold_words` must always answer the
# same for the same text, and a version that changes it must fill the index anew. Marks (M*) belong to words: vowels in
# many scripts.
_TABLE = """
CREATE VIRTUAL TABLE search_words USING fts5(
    chat, words, content='', tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
)
"""
_TEXTS = {"messages": ("content", "2 * {row}.key"), "snippets": ("text", "2 * {row}.key + 1")}
_TRIGGERS = {
    "insert": "CREATE TRIGGER search_{table}_insert AFTER INSERT ON {table} BEGIN\n    {put};\nEND",
    "update": (
        "CREATE TRIGGER search_{table}_update AFTER UPDATE OF {column} ON {table}\n"
        "WHEN old.{column} IS NOT new.{column} BEGIN\n    {take};\n    {put};\nEND"
    ),
    "delete": "CREATE TRIGGER search_{table}_delete AFTER DELETE ON {table} BEGIN\n    {take};\nEND",
}


def _entry(table: str, row: str) -> tuple[str, str]:
    """What the index holds of a row, and which rows it holds.

    Plain ASCII, as many bytes as characters, goes in as it is, without a call out of SQLite.
    """
    column, rowid = _TEXTS[table]
    text = f"{row}.{column}"
    words = f"CASE WHEN length({text}) = length(CAST({text} AS BLOB)) THEN {text} ELSE turnfold_words({text}) END"
    return f"{rowid.format(row=row)}, 'c' || {row}.chat_key, {words}", f"{text} <> ''"


def _put(table: str, row: str) -> str:
    entry, wanted = _entry(table, row)
    return f"INSERT INTO search_words (rowid, chat, words) SELECT {entry} WHERE {wanted}"


def _take(table: str, row: str) -> str:
    entry, wanted = _entry(table, row)
    return f"INSERT INTO search_words (search_words, rowid, chat, words) SELECT 'delete', {entry} WHERE {wanted}"


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    run = op.get_bind().exec_driver_sql
    run(_TABLE)
    for table, (column, _) in _TEXTS.items():
        entry, wanted = _entry(table, table)
        there = f"SELECT {entry} FROM {table} WHERE {wanted} ORDER BY {table}.key"
        run(f"INSERT INTO search_words (rowid, chat, words) {there}")
        put, take = _put(table, "new"), _take(table, "old")
        for trigger in _TRIGGERS.values():
            run(trigger.format(table=table, column=column, put=put, take=take))


def downgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    run = op.get_bind().exec_driver_sql
    for table in _TEXTS:
        for event in _TRIGGERS:
            run(f"DROP TRIGGER search_{table}_{event}")
    run("DROP TABLE search_words")
