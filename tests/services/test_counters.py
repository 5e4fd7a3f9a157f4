"""app.services.counters: which model's tokens a chat's texts are counted in, wherever they are stored."""

import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.families import family_of
from app.core.model import Role
from app.core.trim import MESSAGE_OVERHEAD
from app.services.projection_query import ProjectionQuery
from app.services.recording import Draft
from app.services.syncing import Line
from tests.support.parts import counter
from tests.support.table import Table, laid, turn_drafts
from tests.support.travel import exported

TEXT = "Sieben Karten liegen in einem Umschlag, und niemand im Haus weiß davon. "
LLAMA: dict[str, str] = {"provider": "openai", "base_url": "http://127.0.0.1:9", "model": "meta-llama/Llama-3.1-8B"}


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


def counted(text: str, model: str | None) -> int:
    """As the default vocabulary counts, times the factor of the model's family."""
    return family_of(model).scaled(counter()(text))


def use(table: Table, model: str | None, chat_id: str = "c") -> None:
    """Let a chat use a connection with this model; None is the summarizer without one."""
    name = "mine" if model else "extractive"
    if model:
        table.services.connections.put(name, {**LLAMA, "model": model}, keep_key=False, api_key=None)
    table.services.keeping.put(chat_id, {"settings": {"connection": name, "paused": True}})


def tokens(table: Table, message_id: str = "m", chat_id: str = "c") -> int:
    return table.services.recording.get(chat_id, message_id).tokens


def says(table: Table, message_id: str = "m", chat_id: str = "c") -> None:
    table.services.recording.store(chat_id, [Draft(Role.USER, TEXT, id=message_id)], fold="none")


@pytest.mark.parametrize("model", [None, LLAMA["model"], "claude-sonnet-4", "my-own"])
async def test_a_message_counts_as_the_model_of_its_chat_does(table: Table, model: str | None) -> None:
    """An appended message has the tokens of its text alone, the family's factor included."""
    use(table, model)
    says(table)
    assert tokens(table) == counted(TEXT, model)


async def test_a_model_has_its_own_vocabulary(table: Table) -> None:
    """A chat of a cl100k model counts by that vocabulary, not by the default one times something."""
    use(table, "gpt-4")
    says(table)
    assert tokens(table) > counted(TEXT, None)


async def test_what_is_stored_keeps_its_count(table: Table) -> None:
    """Another model changes later messages, and those whose text is written anew; nothing else."""
    says(table, "old")
    says(table, "edited")
    use(table, LLAMA["model"])
    says(table, "new")
    table.services.editing.edit("c", "edited", {"content": TEXT * 2})
    assert tokens(table, "old") == counted(TEXT, None)
    assert tokens(table, "new") == counted(TEXT, LLAMA["model"])
    assert tokens(table, "edited") == counted(TEXT * 2, LLAMA["model"])


async def test_a_sync_counts_what_is_new(table: Table) -> None:
    """A history that is sent again keeps its counts; only the lines that it adds count as the new model does."""
    says(table)
    use(table, LLAMA["model"])
    drafts = [Draft(Role.USER, TEXT, id="m"), Draft(Role.USER, TEXT, id="n")]
    table.services.syncing.sync("c", [Line(draft, frozenset({"id", "role", "content"})) for draft in drafts])
    assert (tokens(table, "m"), tokens(table, "n")) == (counted(TEXT, None), counted(TEXT, LLAMA["model"]))


async def test_a_deleted_message_comes_back_as_the_model_counts_now(table: Table) -> None:
    """Bringing a message back stores it anew."""
    says(table)
    table.services.editing.delete("c", "m")
    use(table, LLAMA["model"])
    table.services.recovering.restore("c", "m")
    assert tokens(table) == counted(TEXT, LLAMA["model"])


async def test_a_text_by_hand_counts_as_its_chat_does(table: Table) -> None:
    """A snippet that a person writes or edits is counted like the chat's messages."""
    table.services.keeping.put("c", {"settings": {"layered": {"verbatim_turns": 1, "turns_per_batch": 1}}})
    await table.say(1, 2, 3)
    found = table.services.browsing.snippets("c", layer=0, state="live", stale=None, degraded=None, offset=0, limit=9)
    use(table, LLAMA["model"])
    assert table.services.revising.edit("c", found[0].id, TEXT).tokens == counted(TEXT, LLAMA["model"])
    table.services.recording.store("c", [Draft(Role.USER, "?"), Draft(Role.ASSISTANT, "!")], fold="none")
    table.services.recording.store("c", turn_drafts(4), fold="none")
    [*_, user, reply] = table.services.recording.page("c", state="all", after=5, limit=2)
    assert table.services.revising.write("c", user.id, reply.id, TEXT).tokens == counted(TEXT, LLAMA["model"])


async def test_a_summarizer_is_asked_to_count_as_the_chat_does(table: Table) -> None:
    """Requests for summaries carry the counter of the chat, whoever answers them."""
    use(table, LLAMA["model"])
    settings = {"paused": False, "layered": {"verbatim_turns": 1, "turns_per_batch": 1}}
    table.services.keeping.patch("c", {"settings": settings})
    await table.say(1, 2)
    [request] = table.models.requests
    assert request.count is not None
    assert request.count(TEXT) == counted(TEXT, LLAMA["model"])


async def test_an_import_counts_as_the_server_does(table: Table) -> None:
    """A chat from a file has no settings of its own yet: it is counted for the server's connection."""
    table.services.connections.put("mine", LLAMA, keep_key=False, api_key=None)
    table.services.keeping.patch_settings({"connection": "mine"})
    file = io.BytesIO(f'[{{"role": "user", "content": "{TEXT}", "id": "m"}}]'.encode())
    table.services.importing.load(file, chat_id="i", title=None, format="openai")
    [message] = table.services.recording.page("i", state="all", after=-1, limit=9)
    assert message.tokens == counted(TEXT, LLAMA["model"])


async def test_our_own_file_counts_by_its_settings(table: Table) -> None:
    """A chat that comes back brings its settings, so its texts count as they did."""
    use(table, LLAMA["model"])
    says(table)
    content = exported(table.server)
    table.services.importing.load(io.BytesIO(content), chat_id="again", title=None, format=None)
    assert tokens(table, chat_id="again") == counted(TEXT, LLAMA["model"])


async def test_a_prompt_counts_what_is_not_stored_the_same_way(table: Table) -> None:
    """The tokens of a projection are all of one kind, whether a text is stored or comes with the request."""
    use(table, LLAMA["model"])
    says(table)
    current = [{"role": "user", "content": TEXT}]
    prompt = table.services.projecting.project("c", ProjectionQuery(system_prompt=TEXT, current=current))
    of_one = counted(TEXT, LLAMA["model"]) + MESSAGE_OVERHEAD
    assert (prompt.tokens.system, prompt.tokens.current) == (of_one, 2 * of_one)


async def test_a_connection_that_is_not_there_adds_nothing(table: Table) -> None:
    """A chat may name a connection before somebody makes it."""
    table.services.keeping.put("c", {"settings": {"connection": "later"}})
    says(table)
    assert tokens(table) == counted(TEXT, None)
