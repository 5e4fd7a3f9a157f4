"""What a request says about the prompt it wants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from app.core.projection import ToolHistory
from app.errors import InvalidRequest
from app.formats.prompt_formats import Format
from app.services.framing import Frame
from app.services.projection_view import WarningView
from app.services.viewing import ViewOptions

Names = Literal["auto", "none", "field", "prefix"]


@dataclass(frozen=True, slots=True)
class ProjectionQuery:
    """The options of a prompt; None leaves one to the view, then to the chat's settings.

    `context_size` and `max_tokens` are tokens. `frame` is put around the current user message: template, values and
    position, as far as they are given. `current`: messages that are not stored yet; `tools` only cost tokens.
    `known_prefix`: the `prefix_hash` of a prompt that the client still has. `explain`: show it piece by piece too.
    `strategy`: the memory it is made with, the chat's own if None.
    """

    system_prompt: str | None = None
    context_size: int | None = None
    max_tokens: int | None = None
    memory_placement: str | None = None
    format: Format | None = None
    names: Names | None = None
    tool_history: ToolHistory | None = None
    omit_authors: Sequence[str] | None = None
    frame: Mapping[str, Any] | None = None
    current: Sequence[Mapping[str, Any]] = ()
    tools: Sequence[Mapping[str, Any]] = ()
    view: str | None = None
    session_id: str | None = None
    known_prefix: str | None = None
    explain: bool = False
    strategy: str | None = None

    def read_frame(self) -> Frame:
        """The frame asked for. Raises InvalidRequest if neither the request nor its view has a template."""
        given = dict(self.frame or {})
        if given.get("template") is None:
            detail = "frame needs a template, in the request or in the view."
            raise InvalidRequest(detail, [{"loc": ["frame", "template"], "msg": detail}])
        return Frame(**given)


@dataclass(frozen=True, slots=True)
class Beforehand:
    """What a fold before the answer came to (summary_buffer): warnings, why none was made, and what the chat's settings
    expose of that. `summary`: of what the request itself brought, for this one prompt.
    """

    warnings: tuple[WarningView, ...] = ()
    skipped: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    summary: str = ""


NOTHING_BEFORE = Beforehand()


def under_view(query: ProjectionQuery, options: ViewOptions) -> ProjectionQuery:
    """`query`, a view's options standing in for those that it leaves out; of a frame, each part by itself."""
    kept = {field.name: getattr(options, field.name) for field in fields(options)}
    if options.frame is not None:
        kept["frame"] = {field.name: getattr(options.frame, field.name) for field in fields(Frame)}
        kept["frame"].update(query.frame or {})
    left = {name: value for name, value in kept.items() if name == "frame" or getattr(query, name) is None}
    return replace(query, **{name: value for name, value in left.items() if value is not None})
