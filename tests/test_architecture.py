"""The rules of the house: what may import what, how long things are, where everything may be caught."""

import ast
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "app").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def _lengths() -> dict[str, int]:
    """Lines of every function of the app, from `def` to its last line."""
    return {
        f"{_name(path)}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in SOURCES
        for node in _nodes(path)
        if isinstance(node, Function)
    }


def _imported(path: Path) -> set[str]:
    """The modules a file imports, by their full names."""
    found = set()
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def _catches_everything(node: ast.AST) -> bool:
    """`except:`, `except Exception` or `except BaseException`, alone or in a tuple."""
    if not isinstance(node, ast.ExceptHandler):
        return False
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(kind is None or ast.unparse(kind) in {"Exception", "BaseException"} for kind in caught)


def test_imports_go_one_way(tmp_path: Path) -> None:
    """Every import contract of pyproject.toml is kept."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-logo"]
    check = subprocess.run(
        [*command, "--cache-dir", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stdout + check.stderr


def test_the_core_needs_the_standard_library_alone() -> None:
    """No module of app.core imports anything but the standard library, the core itself and the errors."""
    allowed = sys.stdlib_module_names | {"app.core", "app.errors"}
    foreign = {
        f"{_name(path)} imports {module}"
        for path in SOURCES
        if path.is_relative_to(ROOT / "app" / "core")
        for module in _imported(path)
        if module.split(".")[0] not in allowed and ".".join(module.split(".")[:2]) not in allowed
    }
    assert not foreign


def test_files_hold_one_thing() -> None:
    """No file of the app or its tests is longer than 300 lines."""
    long = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES + TESTS}
    assert {name: lines for name, lines in long.items() if lines > 300} == {}


def test_no_function_is_long() -> None:
    """No function of the app is longer than 50 lines."""
    assert {name: lines for name, lines in _lengths().items() if lines > 50} == {}


def test_most_functions_are_short() -> None:
    """Half of the app's functions have ten lines or fewer."""
    assert statistics.median(_lengths().values()) <= 10


@pytest.mark.parametrize(("place", "allowed"), [("app/jobs/", 1), ("app/api/", 1), ("", 0)])
def test_nothing_else_catches_everything(place: str, allowed: int) -> None:
    """Only the job loop and the handler behind every 500 catch all exceptions, once each."""
    elsewhere = () if place else ("app/jobs/", "app/api/")
    handlers = [
        f"{_name(path)}:{node.lineno}"
        for path in SOURCES
        if _name(path).startswith(place or "app/") and not _name(path).startswith(elsewhere)
        for node in _nodes(path)
        if isinstance(node, ast.ExceptHandler) and _catches_everything(node)
    ]
    assert len(handlers) <= allowed, handlers
