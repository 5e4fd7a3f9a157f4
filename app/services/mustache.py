"""People's own Mustache templates: unescaped, without partials; values are data and never rendered again."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pystache
from pystache.parser import ParsingError

Value: TypeAlias = "str | int | Sequence[Mapping[str, str | int]]"
"""What a name stands for: a text, a number, or a list for a section."""

_FARTHEST, _DEEPEST = 200, 50
# pystache's parser is quadratic in all of these: twenty thousand hostile characters would take it many seconds.
_REFUSED = (
    (re.compile(rf"\{{\{{(?![\s\S]{{0,{_FARTHEST}}}?\}}\}})"), "has a '{{' that no '}}' follows"),
    (re.compile(rf"\{{\{{\s*\{{(?![^\n]{{0,{_FARTHEST}}}?\}}\s*\}}\}})"), "has a '{{{' that no '}}}' follows"),
    (re.compile(r"\{{4}|\{\{\s{20}"), "has '{{' with no name after it"),
    (re.compile(r"[ \t]{200}"), "has two hundred blanks in a row"),
    (re.compile(r"\{\{\s*="), "changes the delimiters; leave them '{{' and '}}'"),
)
_SECTION = re.compile(r"\{\{\s*([#^/])")


def check_template(template: str) -> str:
    """The template as it is. Raises ValueError, with what to mend, if it is no Mustache or would be slow to read."""
    for pattern, fault in _REFUSED:
        if pattern.search(template):
            raise ValueError(f"The template {fault}.")
    if _depth(template) > _DEEPEST:
        raise ValueError(f"The template nests more than {_DEEPEST} sections.")
    try:
        pystache.parse(template, raise_on_mismatch=True)
    except ParsingError as error:
        raise ValueError(f"The template is no Mustache: {error}.") from None
    return template


def render(template: str, values: Mapping[str, Value]) -> str:
    """`template` with its names and sections filled; a name that `values` does not have is empty.

    Inside a section its own items hide the section's name: a list within itself would multiply.
    """
    renderer = pystache.Renderer(escape=str, partials={}, missing_tags="ignore")
    rendered: str = renderer.render(check_template(template), _guarded(values))
    return rendered


def _guarded(values: Mapping[str, Value]) -> dict[str, object]:
    return {
        name: value if isinstance(value, str | int) else [{name: (), **_guarded(item)} for item in value]
        for name, value in values.items()
    }


def _depth(template: str) -> int:
    depth = deepest = 0
    for mark in _SECTION.findall(template):
        depth += -1 if mark == "/" else 1
        deepest = max(deepest, depth)
    return deepest
