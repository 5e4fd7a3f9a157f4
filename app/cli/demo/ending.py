"""The last screen of the demo: what a prompt is made of now, and the proof that nothing is lost."""

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from app.cli.demo.charts import clip
from app.cli.demo.playing import CHAT, Moment, look
from app.cli.demo.screen import layer_lines, token_lines
from app.cli.demo.story import Story
from app.cli.failing import CannotRun
from app.cli.showing import printable
from app.services.browsing import SnippetView
from app.services.bundle import Services
from app.services.recording import MessageView

_ALL = 10_000


def show_ending(
    console: Console, services: Services, story: Story, moments: Sequence[Moment], keep: str | None
) -> None:
    """Print it. Raises CannotRun if a message is not found again as it was written."""
    _head(console, "The memory after the last turn, oldest first")
    _lines(console, layer_lines(moments[-1]))
    _head(console, "Tokens of the next prompt, turn by turn")
    _lines(console, token_lines(list(moments), console.width))
    _head(console, "What the model gets next")
    _lines(console, _prompt_lines(services, story, moments[-1], console.width))
    _head(console, "Nothing is lost")
    _show_proof(console, services, story)
    _head(console, "Where to go next")
    for command, purpose in next_steps(keep):
        console.print(Text(f"  {command}\n      ").append(purpose, "bright_black"), soft_wrap=True)


def _head(console: Console, title: str) -> None:
    console.print(Text(f"\n{title}", "bold"))


def _lines(console: Console, lines: Sequence[Text]) -> None:
    for line in lines:
        console.print(line, no_wrap=True, overflow="ellipsis", crop=True)


def _prompt_lines(services: Services, story: Story, last: Moment, width: int) -> list[Text]:
    prompt = look(services, story)
    tokens, memory = prompt.tokens, prompt.memory
    live = _snippets(services)
    rows = [_row("system prompt", tokens.system, str(prompt.messages[0]["content"]).split("\n")[0])]
    if live:
        rows.append(_row("memory", tokens.memory, f"{memory.snippets} snippets, one line each"))
        rows += [_quoted("first", live[0].text, width), _quoted("last", live[-1].text, width)]
    sent = len(prompt.messages) - 1
    rows.append(_row("verbatim", tokens.history, f"{prompt.window.turns} turns, {sent} messages, word for word"))
    total = _row("total", tokens.total, f"instead of {last.raw:,}: {last.share:.0%}")
    total.stylize("bold")
    return [*rows, total]


def _row(name: str, tokens: int, what: str) -> Text:
    return Text(f"  {name:<14}{tokens:>7,}  ").append(printable(what), "bright_black")


def _quoted(place: str, text: str, width: int) -> Text:
    return Text(f"{place:>23}: ", "bright_black").append(printable(clip(text, max(20, width - 26))), "italic")


def _show_proof(console: Console, services: Services, story: Story) -> None:
    live = _snippets(services)
    if live:
        _show_opened(console, services, max(live, key=_messages_under))
    stored = services.recording.page(CHAT, state="all", after=-1, limit=_ALL)
    check_nothing_lost(story, stored, live)
    ghosted = sum(message.ghosted for message in stored)
    console.print(
        f"  All {len(stored)} messages were read back and compared with the story: identical."
        f"\n  {ghosted} are under exactly one snippet each, {len(stored) - ghosted} are sent verbatim."
    )


def _show_opened(console: Console, services: Services, snippet: SnippetView) -> None:
    under = services.browsing.messages_under(CHAT, snippet.id, after=-1, limit=_ALL)
    turns = snippet.covers.turns if snippet.covers else 0
    console.print(f"  One snippet of layer {snippet.layer}, {snippet.tokens} tokens:")
    console.print(Padding(Text(printable(snippet.text), "italic"), (0, 2, 0, 4)))
    console.print(f"  opened, down to the {len(under)} original messages of {turns} turns under it:")
    shown = [_spoken(message, console.width) for message in under]
    _lines(console, shown if len(shown) <= 4 else [*shown[:2], Text("      ⋮"), *shown[-2:]])


def _spoken(message: MessageView, width: int) -> Text:
    said = clip(message.content or "", max(20, width - 12 - len(message.name or "")))
    return Text(f"  {message.index:>5}  ").append(printable(f"{message.name}: {said}"), "bright_black")


def check_nothing_lost(story: Story, stored: Sequence[MessageView], live: Sequence[SnippetView]) -> None:
    """Raises CannotRun unless every message is stored as written and covered once or visible."""
    said = [(draft.role.value, draft.content) for draft in story.messages]
    covered = sum(map(_messages_under, live))
    ghosted = sum(message.ghosted for message in stored)
    if said != [(message.role, message.content) for message in stored] or covered != ghosted:
        raise CannotRun(
            "The stored messages are not those of the story: this is a fault in Turnfold, please report it."
        )


def _messages_under(snippet: SnippetView) -> int:
    return snippet.covers.messages if snippet.covers else 0


def _snippets(services: Services) -> list[SnippetView]:
    """The live ones in reading order."""
    return services.browsing.snippets(CHAT, layer=None, state="live", stale=None, degraded=None, offset=0, limit=_ALL)


def next_steps(keep: str | None) -> list[tuple[str, str]]:
    """Commands, and what each is good for."""
    kept = (f"TURNFOLD_DATABASE_URL=sqlite:///{keep} turnfold serve", "this chat, over HTTP")
    again = ("turnfold demo --keep demo.db", "the same, keeping the database to look around in")
    return [
        kept if keep else again,
        ("turnfold import CHAT.jsonl --fold", "a chat of your own, from SillyTavern or OpenAI messages"),
        ("turnfold serve", "the service, with all its calls explained, on http://127.0.0.1:8787/"),
    ]
