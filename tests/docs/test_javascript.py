"""docs/javascript.md: its examples run in Node as one script and print what they say; its tables are the module's."""

import re
from pathlib import Path

from tests.docs.pages import BASE_URL, ROOT, blocks, code, table
from tests.support.javascript import node, run
from tests.support.service import running

PAGE = ROOT / "docs" / "javascript.md"
CLIENT = ROOT / "static" / "turnfold.js"
_PRINTED = re.compile(r"^\s*console\.log\(.*\); // (.+)$", re.M)
_NAMES = "Object.getOwnPropertyNames({}.prototype).filter((name) => name !== 'constructor')"


def _run(folder: Path, script: str) -> str:
    """What a module beside turnfold.js prints."""
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "turnfold.js").write_bytes(CLIENT.read_bytes())
    (folder / "page.js").write_text(script, encoding="utf-8")
    done = run(node(), folder / "page.js")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_examples_print_what_they_say(tmp_path: Path) -> None:
    """Every js block runs, in order, and each console.log prints the comment behind it."""
    script = "\n".join(block.text for block in blocks(PAGE) if block.kind == "js" and not block.skipped)
    with running(tmp_path) as service:
        printed = _run(tmp_path, script.replace(BASE_URL, service.url))
    assert printed.splitlines() == _PRINTED.findall(script)


def test_every_call_is_listed(tmp_path: Path) -> None:
    """The table of calls names every method of both classes, and none that is not there."""
    lists = ", ".join(f"...{_NAMES.format(name)}.map((name) => '{name} ' + name)" for name in ("Turnfold", "Chat"))
    script = f"import {{ Chat, Turnfold }} from './turnfold.js';\nconsole.log([{lists}].join('\\n'));"
    there = {tuple(line.lower().split()) for line in _run(tmp_path, script).splitlines()}
    named = {name for row in table(PAGE, "call", "of the API") for name in code(row[0])}
    assert {tuple(name.partition("(")[0].split(".")) for name in named} == there


def test_every_type_is_named() -> None:
    """The last paragraph names each of the module's types."""
    text = PAGE.read_text(encoding="utf-8")
    types = re.findall(r"@typedef \{.*?\}\}? (\w+)", CLIENT.read_text(encoding="utf-8"), re.S)
    assert set(code(text[text.index("There are `Message`") :])) == set(re.findall(r"\b[A-Z]\w+", " ".join(types)))
