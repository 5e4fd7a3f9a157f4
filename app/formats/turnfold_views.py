"""The views of a chat in a file of our own: their options, as strict as the API; windows stay with their server."""

from collections.abc import Callable
from typing import Any, get_args

from app.core.errors import BudgetError
from app.core.placement import parse_placement
from app.core.projection import ToolHistory
from app.core.trim import resolve_budget
from app.formats.prompt_formats import Format
from app.formats.turnfold_fields import (
    Check,
    Field,
    Record,
    Shape,
    Wrong,
    content,
    json_object,
    list_of,
    object_of,
    one_of,
    read_record,
    text,
    whole,
)

_MAX_TOKENS = 100_000_000
_MAX_TEMPLATE_CHARS = 100_000
_MAX_AUTHORS = 100
_POSITIONS = ("replace", "before_user", "before_system", "after_user", "after_system")


def read_options(value: Any) -> Record:
    """The options of a view; those that are null are none. Raises Wrong and Unknown."""
    options = {name: said for name, said in read_record(_OPTIONS, value).items() if said is not None}
    try:
        resolve_budget(options.get("context_size"), options.get("max_tokens"))
    except BudgetError as error:
        raise Wrong(f"has sizes that do not fit together: {error}") from None
    return options


def _at_most(most: int, check: Check) -> Check:
    def checked(value: Any) -> Any:
        if len(check(value)) > most:
            raise Wrong(f"must hold at most {most:,}")
        return value

    return checked


def _that(passes: Callable[[str], object]) -> Check:
    def checked(value: Any) -> str:
        try:
            passes(text(value))
        except ValueError as error:
            raise Wrong(f"is wrong: {error}") from None
        return str(value)

    return checked


_TOKENS = whole(1, _MAX_TOKENS)
_FRAME = Shape(
    {
        "template": Field(_at_most(_MAX_TEMPLATE_CHARS, text)),
        "values": Field(json_object),
        "position": Field(one_of(_POSITIONS)),
    }
)
_OPTIONS = Shape(
    {
        "system_prompt": Field(content, default=None),
        "context_size": Field(_TOKENS, default=None),
        "max_tokens": Field(_TOKENS, default=None),
        "memory_placement": Field(_that(parse_placement), default=None),
        "format": Field(one_of(get_args(Format)), default=None),
        "names": Field(one_of(("auto", "none", "field", "prefix")), default=None),
        "tool_history": Field(one_of(get_args(ToolHistory)), default=None),
        "omit_authors": Field(_at_most(_MAX_AUTHORS, list_of(text)), default=None),
        "frame": Field(object_of(_FRAME), default=None),
    }
)
