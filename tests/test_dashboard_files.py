"""What the dashboard is made of: files that load nothing from elsewhere, run nothing inline, and are what they say."""

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "static"
DASHBOARD = STATIC / "dashboard"
VENDOR = DASHBOARD / "vendor"
OURS = sorted(path for path in DASHBOARD.rglob("*.js") if VENDOR not in path.parents)
PRELOADED = (DASHBOARD / "main.js", DASHBOARD / "chat" / "page.js")
PAGE = (STATIC / "index.html").read_text(encoding="utf-8")
IMPORT = re.compile(r"^(?:import|export) [^;]*?from '(\.[^']+)'|^import '(\.[^']+)'", re.MULTILINE)
LATER = re.compile(r"\bimport\('(\.[^']+)'\)")
MARKUP = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "dangerouslySetInnerHTML",
    "document.write",
    "eval(",
    "Function(",
)
MOST_LINES, WIDEST = 300, 120


def imported(path: Path, *, later: bool) -> list[Path]:
    """The modules that one imports itself; with `later`, those too that it imports when they are needed."""
    text = path.read_text(encoding="utf-8")
    names = [plain or bare for plain, bare in IMPORT.findall(text)] + (LATER.findall(text) if later else [])
    return [(path.parent / name).resolve() for name in names]


def reached(*start: Path, later: bool = False) -> list[Path]:
    """Modules and all that they need, as the browser comes to know of them."""
    found = list(start)
    for path in found:
        found += [one for one in dict.fromkeys(imported(path, later=later)) if one not in found]
    return found


def test_the_libraries_are_what_their_authors_published() -> None:
    """Each vendored file has the hash that stands beside it, and each is named with its licence."""
    lines = (VENDOR / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = {name: found for found, name in map(str.split, lines)}
    found = {name: hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() for name in sums}
    assert found == sums
    told = (VENDOR / "README.md").read_text(encoding="utf-8")
    kept = {path.name for path in VENDOR.iterdir()} - {"README.md", "SHA256SUMS", "htm-preact.d.ts"}
    assert kept == set(sums)
    assert all(f"`{name}`" in told for name in kept)


def test_the_page_asks_for_its_modules_at_once() -> None:
    """What the frame and a chat's memory need is preloaded, so that none waits for the one that names it."""
    wanted = [f"/static/{path.relative_to(STATIC)}" for path in reached(*PRELOADED)[1:]]
    links = [f'<link rel="modulepreload" href="{path}">' for path in sorted(wanted)]
    listed = re.findall(r'<link rel="modulepreload"[^>]*>', PAGE)
    assert listed == links, "static/index.html should list:\n" + "\n".join(links)


def test_no_module_is_left_over() -> None:
    """Every file of the dashboard is used, by the page or by a module."""
    assert set(OURS) <= set(reached(DASHBOARD / "main.js", later=True))
    sheets = {f"/static/{path.relative_to(STATIC)}" for path in DASHBOARD.rglob("*.css")}
    assert set(re.findall(r'rel="stylesheet" href="([^"]+)"', PAGE)) == sheets


@pytest.mark.parametrize("path", OURS, ids=lambda path: str(path.relative_to(DASHBOARD)))
def test_a_module_is_small_and_makes_no_markup(path: Path) -> None:
    """Text never becomes markup, nothing is evaluated, and a person can read the file."""
    text = path.read_text(encoding="utf-8")
    assert [word for word in MARKUP if word in text] == []
    lines = text.splitlines()
    assert len(lines) <= MOST_LINES
    assert [number for number, line in enumerate(lines, 1) if len(line) > WIDEST] == []


def test_nothing_comes_from_elsewhere() -> None:
    """No file of the page names an address that it loads from, and the page holds no script or style of its own."""
    assert re.findall(r'(?:src|href)="(?!/)[^"]*"', PAGE) == []
    assert re.findall(r"<style|style=|\son\w+=|<script(?![^>]* src=)", PAGE) == []
    for path in DASHBOARD.rglob("*.css"):
        assert re.findall(r"@import|url\((?!['\"]?data:)", path.read_text(encoding="utf-8")) == []
