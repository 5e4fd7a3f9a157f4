"""What the documentation says is so: examples run, links lead somewhere, names and numbers are the code's."""

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.main import get_command

from app.api.responses import KINDS
from app.cli import app as program
from app.core.model import Snippet
from app.core.promotion import Seed, plan_promotion
from app.core.retry import Failure, RetryPolicy, backoff_s
from app.core.settings import RANGES, ChatSettings, LayeredSettings
from app.core.summary import Connection
from app.llm.faults import describe
from app.resources import resource_dir
from app.services.keeping import as_values
from app.services.projection_view import WARNINGS
from app.services.prompts import Material, PromptLibrary
from app.settings import Settings
from tests.docs.pages import (
    BASE_URL,
    PAGES,
    ROOT,
    anchors,
    blocks,
    code,
    commands,
    examples,
    mismatch,
    send,
    table,
)
from tests.support.service import Service, running

DOCS = ROOT / "docs"
API, CONCEPTS, MODELS, OPERATIONS = (DOCS / f"{name}.md" for name in ("api", "concepts", "models", "operations"))
ROUTE = re.compile(r"\b(GET|PUT|POST|PATCH|DELETE) (/[\w/{}-]+)")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("docs")) as service:
        yield service


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=named)
def test_examples_run_and_answer_as_shown(page: Path, tmp_path: Path) -> None:
    """Every curl line of a page, sent in order to a fresh server, succeeds or answers the problem that is shown."""
    names = {"TURNFOLD_API_KEY": "not-asked-for"}
    with running(tmp_path) as service:
        for example in examples(page):
            answer = send(service.http, example.words, names)
            expected = example.answer if isinstance(example.answer, dict) else {}
            if expected.get("status", 0) in range(400, 600):
                assert answer.status_code == expected["status"], (example.words, answer.text)
            else:
                assert answer.is_success, (example.words, answer.text)
            if example.answer is not None:
                wrong = mismatch(example.answer, answer.json(), names)
                assert wrong is None, (example.words, wrong)


def test_the_script_that_checks_promises_finds_them_kept(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    """The script of concepts.md runs on a folded chat and says that the promises hold."""
    story = (ROOT / "static/demo/story.jsonl").read_bytes()
    assert service.http.post("/v1/import?chat_id=dry-mail", content=story).is_success
    service.post("/chats/dry-mail/backlog", {"choice": "all"})
    service.settled("dry-mail")
    [script] = [block.text for block in blocks(CONCEPTS) if block.kind == "python"]
    exec(script.replace(BASE_URL, service.url), {})
    assert capsys.readouterr().out.startswith("promises 1 to 3 hold: 325 messages, 305 of them under 37 snippets")


def test_a_backup_as_shown_is_whole_and_a_plain_copy_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a server runs, the backup of operations.md holds what was just written; a copy of the file does not."""
    monkeypatch.chdir(tmp_path)
    [script] = [block.text for block in blocks(OPERATIONS) if block.kind == "python"]
    with running(tmp_path) as service:
        service.say("harbour", 1, 2, 3, fold="none")
        shutil.copy(tmp_path / "turnfold.db", tmp_path / "copy.db")
        exec(script, {})
    assert _count_messages(tmp_path / "backup.db") == 6
    assert _count_messages(tmp_path / "copy.db") < 6


def _count_messages(file: Path) -> int:
    database = sqlite3.connect(file)
    try:
        return int(database.execute("SELECT count(*) FROM messages").fetchone()[0])
    finally:
        database.close()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file that is there, and a heading that is in it."""
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_named_settings_routes_and_commands_exist(page: Path, service: Service) -> None:
    """Whatever a page calls TURNFOLD_…, METHOD /path or turnfold COMMAND is there."""
    text = page.read_text(encoding="utf-8")
    settings = {f"TURNFOLD_{name.upper()}" for name in Settings.model_fields}
    assert set(re.findall(r"\bTURNFOLD_[A-Z_]*[A-Z]\b", text)) <= settings
    assert {" ".join(route) for route in ROUTE.findall(text)} <= _routes(service)
    spans = [span.split() for span in code(text) if re.match(r"turnfold [a-z]", span)]
    scripts = [words for block in blocks(page) if block.kind == "sh" for words in commands(block.text)]
    assert [words for words in (*spans, *scripts) if words[0].endswith("turnfold") and not _is_command(words)] == []


def _is_command(words: list[str]) -> bool:
    """Whether the program has this command, with these options."""
    command = getattr(get_command(program), "commands", {}).get(words[1])
    known = {option for parameter in getattr(command, "params", ()) for option in parameter.opts}
    return command is not None and {word for word in words if word.startswith("--")} <= known


def _routes(service: Service) -> set[str]:
    paths: dict[str, dict[str, Any]] = service.http.get("/openapi.json").json()["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def test_every_route_is_explained(service: Service) -> None:
    """The routes of the API page are those of the running program."""
    assert {code(row[0])[0] for row in table(API, "route")} == _routes(service)


def test_every_field_of_a_projection_is_explained(service: Service) -> None:
    """Fields that are asked for, fields that come back, reasons and warnings: none is missing, none invented."""
    document = service.http.get("/openapi.json").json()
    schemas, read = document["components"]["schemas"], document["paths"]["/v1/chats/{chat_id}/projection"]["get"]
    asked = {name for row in table(API, "field", "") for name in code(row[0])}
    parts = {"memory": "MemoryPart", "window": "Window", "tokens": "TokenParts"}
    nested = {f"{part}.{name}" for part, schema in parts.items() for name in schemas[schema]["properties"]}
    returned = schemas["Projection"]["properties"].keys() - parts.keys()
    query = {one["name"] for one in read["parameters"] if one["in"] == "query"}
    assert asked == schemas["ProjectionRequest"]["properties"].keys() | query | nested | returned
    reasons = {name for row in table(API, "`reason`") for name in code(row[0])}
    assert reasons == set(schemas["LeftOut"]["properties"]["reason"]["enum"])
    assert {code(row[0])[0] for row in table(API, "warning")} == WARNINGS.keys()


def test_every_error_is_explained() -> None:
    """Every kind of error stands in the table of the API page, with its status."""
    listed = {(int(row[0]), code(row[1])[0]) for row in table(API, "status", "`code`")}
    assert {(kind.status, error.code) for error, kind in KINDS.items() if error.code != "internal"} <= listed


def test_every_event_of_the_log_is_explained() -> None:
    """What is logged stands in the table of the operations page; `request` is told of above it."""
    sources = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "app").rglob("*.py"))
    logged = set(re.findall(r"\blog\.(?:info|warning|error|exception)\(\s*\"(\w+)\"", sources))
    assert {name for row in table(OPERATIONS, "event") for name in code(row[0])} == logged - {"request"}


def test_chat_wide_settings_are_explained() -> None:
    """Names and defaults are those of the code; what a strategy has of its own stands elsewhere."""
    own = {"layered", "rolling", "summary_buffer"}
    shown = {name: json.dumps(value) for name, value in as_values(ChatSettings()).items() if name not in own}
    rows = table(CONCEPTS, "setting", "default", "what it does")
    assert {code(row[0])[0]: code(row[1])[0] for row in rows} == shown


def test_layered_settings_are_explained() -> None:
    """Names, defaults and ranges are those of the code."""
    rows = {code(row[0])[0]: row[1:3] for row in table(CONCEPTS, "setting", "default", "range")}
    assert rows.keys() == {field.name for field in fields(LayeredSettings)}
    for field in fields(LayeredSettings):
        default, values = rows[field.name]
        if field.name in RANGES:
            assert values == "–".join(map(str, RANGES[field.name]))
            assert default == ("`turns_per_batch`" if field.default is None else str(field.default))
        elif isinstance(field.default, str):
            assert default == f'`"{field.default}"`'
            assert field.default in code(values)
        else:
            assert field.default in (None, (), MISSING)


def test_prompt_variables_are_filled_in() -> None:
    """Each variable of the table is replaced in a prompt, and one that is not there is not."""
    variables = [code(row[0])[0] for row in table(CONCEPTS, "variable")]
    settings = LayeredSettings(preset="custom", user_prompt=" ".join([*variables, "{{summary}}"]))
    prompts = PromptLibrary(resource_dir("prompts"))
    said = prompts.render_fold(settings, Material("U", "C", "X", "S"))
    assert re.findall(r"\{\{\w+\}\}", said.user) == ["{{summary}}"]


def test_a_chat_grows_as_the_table_says() -> None:
    """Folds, snippets of each layer and merges are what the plans come to."""
    for row in table(CONCEPTS, "turns", "folds so far"):
        turns, folds, *layers, merges, verbatim = (int(cell.replace(",", "")) for cell in row)
        settings = LayeredSettings()
        assert folds == max(0, turns - settings.verbatim_turns) // settings.turns_per_batch
        assert verbatim == turns - folds * settings.turns_per_batch
        assert (layers, merges) == _grown(folds, settings)


def _grown(folds: int, settings: LayeredSettings) -> tuple[list[int], int]:
    """Snippets by layer, each of 100 tokens, and merges, after so many folds."""
    live: list[Snippet] = []
    merges = 0
    for key in range(folds):
        live.append(Snippet(key, 0, 100))
        while plan := plan_promotion(live, settings):
            sources = (plan.snippet,) if isinstance(plan, Seed) else plan.sources
            merges += not isinstance(plan, Seed)
            place = live.index(sources[0])
            live = [snippet for snippet in live if snippet not in sources]
            if sources[0].layer != plan.layer:
                place = sum(snippet.layer >= plan.layer for snippet in live)
            live.insert(place, replace(sources[0], layer=plan.layer))
    return [sum(snippet.layer == layer for snippet in live) for layer in range(settings.max_layers)], merges


def test_the_pauses_between_attempts_are_as_shown() -> None:
    """The table of models.md gives the shortest and the longest pause before each attempt."""
    policy = RetryPolicy()
    first, *others = table(MODELS, "attempt")
    assert first[1] == "none"
    assert [int(row[0]) for row in others] == list(range(2, policy.attempts + 1))
    for attempt, pause in others:
        bounds = (backoff_s(policy, int(attempt), lambda: 0.0), backoff_s(policy, int(attempt), lambda: 1.0))
        assert pause == "–".join(f"{seconds:g}" for seconds in bounds) + " s"


def test_failures_read_as_shown() -> None:
    """The sentences of models.md are those of the program."""
    connection = Connection(name="default", provider="openai")
    for status, sentence in table(MODELS, "status", "sentence"):
        assert sentence == describe(connection, Failure("status", status=int(status)))


def test_the_picture_tells_what_it_shows() -> None:
    """The drawing is valid and has a title and a description for those who do not see it."""
    picture = ElementTree.parse(DOCS / "img" / "layers.svg").getroot()
    labels = picture.attrib["aria-labelledby"].split()
    texts = {element.get("id"): element.text for element in picture}
    assert picture.attrib["role"] == "img"
    assert all(texts[label] for label in labels)


def test_every_decision_is_listed() -> None:
    """The index of decisions links every page beside it, in order."""
    pages = sorted(page.name for page in (DOCS / "decisions").glob("0*.md"))
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\((0[^)]+\.md)\)", index) == pages
