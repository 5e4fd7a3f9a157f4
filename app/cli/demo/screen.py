"""What is seen while the story plays: a picture that changes on a terminal, a line every twenty turns elsewhere."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from app.cli.demo.charts import bar, clip, curve
from app.cli.demo.playing import LAYERED, Moment
from app.cli.demo.story import TITLE, Story
from app.cli.showing import printable
from app.core.settings import LayeredSettings
from app.settings import Settings

_EVERY = 20
_STYLES = ("green", "cyan", "blue", "magenta", "yellow")

Show = Callable[[Moment], None]


def show_opening(console: Console, story: Story, settings: Settings) -> None:
    """The title, who summarizes, and how."""
    played = f" · {story.user_name} and {story.character_name}, {len(story.turns)} turns with the greeting"
    console.print(Text(TITLE, "bold").append(played, "not bold"))
    if settings.llm_provider == "extractive":
        console.print("Summaries: built-in extractive summarizer, offline; a model writes better ones (--model).")
    else:
        console.print(Text(f"Summaries: {settings.llm_model or 'the model'} at {settings.llm_base_url}."))
    changed = ", ".join(f"{name} {_setting(name, value)}" for name, value in LAYERED.items())
    console.print(Text(f"Settings: {changed}.\n", "bright_black"))


def _setting(name: str, value: int) -> str:
    usual = getattr(LayeredSettings(), name)
    return str(value) if value == usual else f"{value} (usually {usual})"


class Lines:
    """For files and pipes."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> Show:
        return self._show

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def _show(self, moment: Moment) -> None:
        if moment.turn % _EVERY and moment.turn != moment.turns:
            return
        layers = ", ".join(f"layer {n.layer}: {n.snippets}" for n in moment.memory.layers) or "no snippet yet"
        self._console.print(
            f"turn {moment.turn:>3}  whole chat {moment.raw:>6,} tokens, sent {moment.sent:>6,}"
            f" ({moment.share:>4.0%})  {layers}",
            soft_wrap=True,
        )


class LiveScreen:
    """For terminals."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._seen: list[Moment] = []
        self._live = Live(console=console, transient=True, refresh_per_second=12)

    def __enter__(self) -> Show:
        self._live.__enter__()
        return self._show

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def _show(self, moment: Moment) -> None:
        self._seen.append(moment)
        self._live.update(self._picture(moment))

    def _picture(self, moment: Moment) -> Group:
        wide = min(100, self._console.width)
        turns = Text(f"turn {moment.turn:>3} of {moment.turns}  ").append(bar(moment.turn, moment.turns, 40, "white"))
        newest = printable(clip(moment.memory.newest, 2 * wide)) or "…"
        return Group(
            turns,
            Text(),
            *layer_lines(moment),
            Text(),
            *token_lines(self._seen, wide),
            Text(),
            Text("newest snippet  ", "bright_black").append(newest, "italic"),
        )


def watching(console: Console) -> AbstractContextManager[Show]:
    """The view that suits where the output goes."""
    return LiveScreen(console) if console.is_terminal else Lines(console)


def layer_lines(moment: Moment) -> list[Text]:
    """The memory, deepest and oldest first, and the turns after it."""
    lines, begin = [], 1
    for layer in reversed(moment.memory.layers):
        style, end = _STYLES[layer.layer % len(_STYLES)], begin + layer.turns - 1
        line = Text(f"  layer {layer.layer}   ").append(bar(layer.snippets, layer.limit, 24, style))
        counted = f"{layer.snippets} of {layer.limit} snippets"
        lines.append(line.append(f"  {counted:<17}  turns {begin}–{end}"))
        begin = end + 1
    most = LAYERED["verbatim_turns"] + LAYERED["turns_per_batch"] - 1
    window = Text("  verbatim  ").append(bar(moment.window_turns, most, 24, "white"))
    return [*lines, window.append(f"  {moment.window_turns} turns, word for word")]


def token_lines(moments: list[Moment], width: int) -> list[Text]:
    """The next prompt's tokens over the turns: with the whole chat, and as it is sent."""
    last, room = moments[-1], max(10, min(60, width - 36))
    rows = (("whole chat", [m.raw for m in moments], "red", ""), ("sent", [m.sent for m in moments], "green", "share"))
    lines = []
    for name, values, style, share in rows:
        line = Text(f"  {name:<10} ").append(f"{curve(values, last.raw, room):<{room}}", style)
        lines.append(line.append(f" {values[-1]:>7,} tokens" + (f" ({last.share:.0%})" if share else "")))
    return lines
