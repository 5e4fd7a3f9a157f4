"""Calls that wait for frontends, as rows: one holder at a time, one answer, nothing lost."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlmodel import Session, select

from app.core.calling import ALIVE_MS, Standing, refusal
from app.store import chats, client_calls, events
from app.store.call_tables import ClientCall
from app.store.engine import Database
from app.store.migrate import migrate
from tests.support.rows import add_chat

NOW = 1_000_000_000
PROMPT = {"system": "You summarize.", "user": "Anna: I leave.", "max_tokens": 100, "temperature": 0.3, "attempt": 1}


def put(session: Session, call_id: str = "k", chat: str = "c", now: int = NOW) -> bool:
    return client_calls.put(session, call_id, chat, "SillyTavern", PROMPT, 120_000, now)


def take(session: Session, client: str = "a", *, now: int = NOW, **changed: Any) -> list[client_calls.Held]:
    options: dict[str, Any] = {"told_key": None, "limit": 1, "lease_ms": 60_000, **changed}
    return client_calls.lease(session, options["told_key"], client, options["limit"], options["lease_ms"], now)


def stands(session: Session, call_id: str = "k") -> Standing:
    found = client_calls.standing(session, call_id)
    assert found is not None
    return found


def test_a_call_is_taken_once(db: Database) -> None:
    """Of two who ask one gets it, with the prompt and until when; when that is over the other one does."""
    with db.write() as session:
        add_chat(session)
        put(session)
        [held] = take(session)
        assert (held.chat_id, held.connection, held.prompt) == ("c", "SillyTavern", PROMPT)
        assert held.lease_until == NOW + 60_000
        assert take(session, "b") == []
        assert [one.id for one in take(session, "b", now=NOW + 60_000)] == []  # the process that asks has died since
        client_calls.keep_alive(session, ["k"], NOW + 60_000)
        assert [one.id for one in take(session, "b", now=NOW + 60_000)] == ["k"]
        assert stands(session).client == "b"


def test_the_oldest_come_first(db: Database) -> None:
    """Of all chats or of one, and no more than asked for."""
    with db.write() as session:
        keys = {name: add_chat(session, name).key for name in ("c", "d")}
        for number, chat in enumerate("ccd"):
            put(session, f"k{number}", chat)
        assert [one.id for one in take(session, told_key=keys["d"], limit=5)] == ["k2"]
        assert [one.id for one in take(session, limit=1)] == ["k0"]
        assert client_calls.any_free(session, keys["c"], NOW)
        assert not client_calls.any_free(session, keys["d"], NOW)


def test_a_session_s_call_is_its_chat_s(db: Database) -> None:
    """It is shown, counted and told of under the chat; the session's name is nobody's business."""
    with db.write() as session:
        chat = add_chat(session)
        own = chats.add(session, "c/session/s", {"session_of": chat.key})
        put(session, chat="c/session/s")
        [held] = take(session, told_key=chat.key)
        assert held.chat_id == "c"
        assert client_calls.queue(session, chat.key, NOW) == client_calls.Queue("SillyTavern", 1, NOW, 1)
        assert client_calls.is_asked(session, own.key, NOW)
        assert not client_calls.is_asked(session, chat.key, NOW)
        _, *told = events.of_chat(session, chat.key, 0, 10)  # first that the chat was created
        assert [(one.kind, one.data) for one in told] == [("client_call", {"id": "k", "connection": "SillyTavern"})]


def test_what_is_released_waits_again(db: Database) -> None:
    """Those who watch the chat are told a second time."""
    with db.write() as session:
        chat = add_chat(session)
        put(session)
        take(session)
        assert client_calls.release(session, "k", stands(session))
        told = [one.kind for one in events.of_chat(session, chat.key, 0, 10)]
        assert told == ["chat", "client_call", "client_call"]
        assert [one.id for one in take(session, "b")] == ["k"]


def test_an_answer_is_kept_until_it_is_read(db: Database) -> None:
    """It ends the call; once that is noted neither prompt nor answer is kept."""
    with db.write() as session:
        add_chat(session)
        put(session)
        before = stands(session)
        assert client_calls.answer(session, "k", before, {"text": "Anna left."})
        assert not client_calls.answer(session, "k", before, {"text": "Ben left."})
        assert client_calls.reply_to(session, "k") == {"text": "Anna left."}
        client_calls.end(session, "k", "answered")
        [row] = session.exec(select(ClientCall)).all()
        assert (row.state, row.prompt, row.reply) == ("answered", None, None)


def test_withdrawn_calls_are_not_handed_out(db: Database) -> None:
    """Those that nobody holds, or all of a connection; what is held is left alone by the first."""
    with db.write() as session:
        key = add_chat(session).key
        put(session, "held")
        take(session)
        put(session, "free")
        client_calls.withdraw(session, client_calls.untaken(key, NOW))
        assert (stands(session, "held").state, stands(session, "free").state) == ("waiting", "withdrawn")
        assert take(session, "b", limit=5) == []
        client_calls.withdraw(session, client_calls.of_connection("SillyTavern"))
        assert stands(session, "held").state == "withdrawn"


def test_the_dead_are_forgotten(db: Database) -> None:
    """Ten minutes after its process gave no more sign of life a call is gone, and with its chat at once."""
    with db.write() as session:
        add_chat(session)
        other = add_chat(session, "d")
        put(session, "old")
        put(session, "new", "d", NOW + ALIVE_MS + client_calls.KEPT_MS + 1)
        assert client_calls.standing(session, "old") is None
        chats.remove(session, other.key)
        assert client_calls.standing(session, "new") is None
        assert not put(session, "later", "d")


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "lease", "renew", "release", "expire", "answer", "stop", "free"]),
        st.integers(0, 3),
        st.sampled_from(["a", "b", None]),
    ),
    max_size=40,
)


class Ledger:
    """Plays steps on rows, and keeps book of what two tabs and the process that asks were told."""

    def __init__(self, session: Session) -> None:
        self.session, self.now = session, NOW
        self.holder: dict[str, tuple[str, int]] = {}
        self.answered: set[str] = set()
        self.over: set[str] = set()
        self.asked: set[str] = set()

    def step(self, what: str, call: str, client: str | None) -> None:
        self.now += 1000
        client_calls.keep_alive(self.session, sorted(self.asked - self.over), self.now)
        getattr(self, what)(call, client)

    def put(self, call: str, _client: str | None) -> None:
        if call not in self.asked:
            assert put(self.session, call, now=self.now)
            self.asked.add(call)

    def lease(self, _call: str, client: str | None) -> None:
        for held in take(self.session, client or "c", now=self.now, limit=2, lease_ms=5000):
            assert held.id not in self.over | self.answered
            assert self.holder.get(held.id, ("", 0))[1] <= self.now, "handed to two at once"
            self.holder[held.id] = (client or "c", held.lease_until)

    def allowed(self, call: str, client: str | None) -> Standing | None:
        standing = client_calls.standing(self.session, call)
        return standing if standing is not None and refusal(standing, client, self.now) is None else None

    def renew(self, call: str, client: str | None) -> None:
        standing = self.allowed(call, client)
        if standing is not None and standing.client is not None and standing.client == client:
            until = client_calls.renew(self.session, call, standing, 5000, self.now)
            assert until is not None
            self.holder[call] = (client, until)

    def release(self, call: str, client: str | None) -> None:
        standing = self.allowed(call, client)
        if standing is not None and standing.leased_at is not None:
            assert client_calls.release(self.session, call, standing)
            self.holder.pop(call, None)

    def free(self, call: str, _client: str | None) -> None:
        standing = client_calls.standing(self.session, call)
        if standing is not None and standing.state == "waiting" and not standing.is_held(self.now):
            client_calls.release(self.session, call, standing)

    def expire(self, _call: str, _client: str | None) -> None:
        self.now += 6000
        client_calls.keep_alive(self.session, sorted(self.asked - self.over), self.now)

    def answer(self, call: str, client: str | None) -> None:
        standing = self.allowed(call, client)
        if standing is None:
            return
        name, until = self.holder.get(call, ("", 0))
        assert client is None or until <= self.now or name == client, "taken from another one's hands"
        assert call not in self.answered | self.over
        assert client_calls.answer(self.session, call, standing, {"text": call})
        self.answered.add(call)

    def stop(self, call: str, _client: str | None) -> None:
        if call in self.asked:
            client_calls.end(self.session, call, "cut")
            self.over.add(call)

    def check(self) -> None:
        """What was asked and is not over is answered, held, or to be had now or later."""
        open_calls = self.asked - self.over - self.answered
        later = self.now + 6000
        client_calls.keep_alive(self.session, sorted(open_calls), later)
        assert {held.id for held in take(self.session, "z", now=later, limit=64)} == open_calls


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Database:
    database = Database(f"sqlite:///{tmp_path_factory.mktemp('calls') / 'turnfold.db'}")
    migrate(database.engine)
    return database


@settings(max_examples=40)
@given(steps=STEPS)
def test_whatever_happens_to_calls(shared: Database, steps: list[tuple[str, int, str | None]]) -> None:
    """However two tabs and the job get in each other's way: none is held by two, answered twice or lost."""
    with shared.engine.connect() as connection, Session(connection) as session:
        add_chat(session)
        ledger = Ledger(session)
        for what, number, client in steps:
            ledger.step(what, f"k{number}", client)
        ledger.check()
        session.rollback()
