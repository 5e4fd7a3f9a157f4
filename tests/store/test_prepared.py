"""Small queries straight from the driver."""

import pytest
from sqlalchemy import bindparam, column, func, select, table
from sqlalchemy.exc import OperationalError
from sqlmodel import SQLModel

from app.store import chats, messages
from app.store.engine import Database, rows
from app.store.prepared import Prepared, PreparedAmong
from tests.support.rows import add_chat, add_messages, message

MESSAGES = SQLModel.metadata.tables["messages"]
CALLS = [{"id": "call", "function": {"name": "look", "arguments": "{}"}}]


def test_rows_are_as_sqlalchemy_reads_them(db: Database) -> None:
    """Numbers, flags, JSON and nothing come back as through SQLAlchemy, value by value and type by type."""
    with db.write() as session:
        key = add_chat(session).key
        messages.insert_many(session, [message(key, 0, hidden=True)])
        messages.insert_many(session, [message(key, 1, tool_calls=CALLS, content=None)])
    statement = select(*MESSAGES.c).where(MESSAGES.c.chat_key == bindparam("chat_key")).order_by(MESSAGES.c.position)
    with db.read() as session:
        found = Prepared(statement).all(session, {"chat_key": key})
        known = rows(session, statement, {"chat_key": key}).all()
    assert [[(type(value), value) for value in row] for row in found] == [
        [(type(value), value) for value in row] for row in known
    ]


def test_values_of_the_statement_itself_are_given_with_it(db: Database) -> None:
    """Constants in a statement stand in their places beside the values that are asked for."""
    query = Prepared(select(func.coalesce(bindparam("given"), "nothing"), func.abs(-3)))
    with db.read() as session:
        assert query.all(session, {"given": None}) == [("nothing", 3)]
        assert query.all(session, {"given": "this"}) == [("this", 3)]


def test_what_fails_fails_as_everywhere(db: Database) -> None:
    """An error of the driver is told as SQLAlchemy tells it, without the values."""
    query = Prepared(select(column("b")).select_from(table("nowhere")).where(column("a") == bindparam("a")))
    with db.read() as session, pytest.raises(OperationalError, match="no such table") as raised:
        query.all(session, {"a": "a secret"})
    assert "a secret" not in str(raised.value)


def test_it_reads_in_the_transaction_of_the_session(db: Database) -> None:
    """What is committed after the first question is not seen by a later one."""
    with db.write() as session:
        key = add_chat(session).key
    with db.read() as session:
        before = chats.surroundings(session, key)
        with db.write() as other:
            add_messages(other, key, 1)
        assert chats.surroundings(session, key) == before == (0, {})


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 1000, 1001])
def test_contents_of_however_many_messages(db: Database, count: int) -> None:
    """Texts are read by key whatever the number of keys; a key that is not there is left out."""
    with db.write() as session:
        key = add_chat(session).key
        add_messages(session, key, count)
    with db.read() as session:
        keys = [message.key for message in messages.uncovered(session, key, "layered")]
        assert list(messages.contents(session, keys)) == keys
        assert messages.contents(session, [*keys, keys[-1] + 1]).keys() == set(keys)


def test_one_value(db: Database) -> None:
    """The first column of the first row, and None where there is no row."""
    place = MESSAGES.c.position
    query = Prepared(select(place, MESSAGES.c.id).where(place >= bindparam("first")).order_by(place))
    with db.write() as session:
        add_messages(session, add_chat(session).key, 3)
        assert [query.value(session, {"first": first}) for first in (1, 3)] == [1, None]


def test_rows_of_a_list_that_meet_a_condition(db: Database) -> None:
    """Values may be given beside the list, however long that is."""
    query = PreparedAmong(
        select(MESSAGES.c.position).where(MESSAGES.c.role == bindparam("role")).order_by(MESSAGES.c.position),
        MESSAGES.c.position,
    )
    with db.write() as session:
        add_messages(session, add_chat(session).key, 8)
        for chosen in ([3], [5, 4], [0, 1, 7], [9]):
            found = query.all(session, chosen, {"role": "assistant"})
            assert found == [(place,) for place in sorted(chosen) if place in (1, 3, 5, 7)]
