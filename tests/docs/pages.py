"""Documentation as data: its fenced blocks, its curl commands, and what its answers promise.

A page's examples are the `curl` lines of its ```sh blocks. A ```json block after one shows the answer to its last line:
fields may be left out, `"…"` stands for any value, a last `"…"` in a list for more of the same, and a value such as
`"$JOB"` is remembered for the commands that follow. `<!-- not run: why -->` before a block leaves it out.
"""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
BASE_URL = "http://127.0.0.1:8787"

_FENCE = re.compile(
    r"(?P<skip><!-- not run: [^>]+ -->\n\s*)?^(?P<mark> *```)(?P<kind>\w*)\n(?P<text>.*?)^\s*```$", re.M | re.S
)
_NAMED = re.compile(r"\$([A-Z_]+)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language and its text. `skipped`: the page says that it is not run."""

    kind: str
    text: str
    skipped: bool


@dataclass
class Example:
    """A command, and the answer that the page shows for it."""

    words: list[str]
    answer: Any = None


@dataclass
class Request:
    """What a curl command sends."""

    url: str = ""
    method: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = _FENCE.finditer(page.read_text(encoding="utf-8"))
    return [Block(block["kind"], block["text"], bool(block["skip"])) for block in found]


def commands(text: str) -> Iterator[list[str]]:
    """The commands of a shell script as words; a quoted text may reach over several lines."""
    pending = ""
    for line in text.replace("\\\n", " ").splitlines():
        pending += line + "\n"
        try:
            words = shlex.split(pending, comments=True)
        except ValueError:  # a quotation goes on
            continue
        pending = ""
        if words:
            yield words


def examples(page: Path) -> list[Example]:
    """The curl commands of a page that are run, with their answers."""
    found: list[Example] = []
    last: Example | None = None
    for block in blocks(page):
        if block.kind == "sh" and not block.skipped:
            made = [Example(words) for words in commands(block.text) if words[0] == "curl"]
            found += made
            last = made[-1] if made else None
        elif block.kind == "json" and last is not None:
            last.answer, last = json.loads(block.text), None
    return found


def send(client: httpx.Client, words: list[str], names: dict[str, str]) -> httpx.Response:
    """Send what a curl command would, with `$NAME` replaced by what it stands for."""
    request = _read_curl([_NAMED.sub(lambda name: names[name[1]], word) for word in words[1:]])
    assert request.url.startswith(BASE_URL), f"an example calls another server: {request.url}"
    method = request.method or ("GET" if request.body is None else "POST")
    return client.request(
        method, request.url.removeprefix(BASE_URL), headers=request.headers, content=request.body, timeout=120
    )


def _read_curl(words: list[str]) -> Request:
    request, rest = Request(), iter(words)
    for word in rest:
        if word == "-X":
            request.method = next(rest)
        elif word == "-H":
            name, _, value = next(rest).partition(":")
            request.headers[name] = value.strip()
        elif word in ("-d", "--data-binary"):
            request.body = _body(next(rest))
        elif word not in ("-s", "-i", "-N"):
            assert not word.startswith("-"), f"this reader does not know curl's {word}"
            request.url = word
    return request


def _body(value: str) -> bytes:
    return (ROOT / value[1:]).read_bytes() if value.startswith("@") else value.encode()


def mismatch(shown: Any, found: Any, names: dict[str, str], place: str = "$") -> str | None:
    """Where an answer is not what the page shows; remembers named values."""
    if shown == "…":
        return None
    if isinstance(shown, str) and _NAMED.fullmatch(shown) and isinstance(found, str):
        names[shown[1:]] = found
        return None
    if isinstance(shown, dict) and isinstance(found, dict):
        lacking = shown.keys() - found.keys()
        parts = [(shown[key], found[key], f"{place}.{key}") for key in shown if key in found]
    elif isinstance(shown, list) and isinstance(found, list):
        more = bool(shown) and shown[-1] == "…"
        shown = shown[:-1] if more else shown
        lacking = set() if len(shown) == len(found) or (more and len(shown) <= len(found)) else {"length"}
        parts = [(item, found[n], f"{place}[{n}]") for n, item in enumerate(shown) if n < len(found)]
    else:
        return None if shown == found else f"{place} is {found!r}, the page says {shown!r}"
    if lacking:
        return f"{place} is not as shown: {sorted(lacking)}"
    return next((wrong for part in parts if (wrong := mismatch(part[0], part[1], names, part[2]))), None)


def tables(page: Path) -> list[list[list[str]]]:
    """The tables of a page: rows of cells, the heading first."""
    found: list[list[list[str]]] = [[]]
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [[row for row in table if not set(row[0]) <= set("-: ")] for table in found if table]


def table(page: Path, *heading: str) -> list[list[str]]:
    """The rows of the tables of a page whose heading begins with these cells."""
    rows = [row for found in tables(page) if found[0][: len(heading)] == list(heading) for row in found[1:]]
    assert rows, f"{page.name} has no table {heading}"
    return rows


def code(text: str) -> list[str]:
    """What stands between backticks."""
    return re.findall(r"`([^`]+)`", text)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
