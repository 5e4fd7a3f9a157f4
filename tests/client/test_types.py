"""The JavaScript's own types hold together: TypeScript checks what the JSDoc comments say."""

from pathlib import Path

from tests.support.javascript import CLIENT, ROOT, run, tool

OPTIONS = (
    "--checkJs --strict --noEmit --pretty false --target es2022 --lib es2022,dom,dom.iterable"
    " --module esnext --moduleResolution bundler"
)


def check(*files: Path) -> str:
    """What TypeScript has to say against these files; nothing if they are right."""
    done = run(tool("tsc"), *OPTIONS.split(), CLIENT / "ambient.d.ts", *files)
    return done.stdout + done.stderr


def test_types_of_the_client() -> None:
    """turnfold.js alone is right."""
    assert check(ROOT / "static" / "turnfold.js") == ""


def test_types_of_the_extension(packaged: Path) -> None:
    """Every module of the packaged extension is right."""
    assert check(*sorted(packaged.glob("*.js"))) == ""


def test_types_of_the_dashboard() -> None:
    """Every module that the dashboard's page loads is right."""
    assert check(ROOT / "static" / "dashboard" / "main.js") == ""


def test_a_wrong_type_is_found(tmp_path: Path) -> None:
    """A call with the wrong argument is told with its place."""
    wrong = tmp_path / "wrong.js"
    wrong.write_text("/** @param {string} text */\nconst say = (text) => text;\nsay(7);\n", encoding="utf-8")
    assert "(3,5): error TS2345" in check(wrong)
