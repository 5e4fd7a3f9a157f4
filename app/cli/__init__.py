"""The command line: what each command takes and says in its help. Their work is in the modules beside this one.

These are imported by name when their command runs: they bring the database and the web server, and `--help` would wait
for both.
"""

import sys
from importlib import import_module
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated

import typer

app = typer.Typer(
    name="turnfold",
    help="Conversation memory for chat frontends: recent turns verbatim, older ones folded, nothing ever deleted.",
    epilog="Begin with `turnfold demo`, then `turnfold serve`. Settings: TURNFOLD_… in the environment or .env.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

ChatId = Annotated[str, typer.Argument(metavar="CHAT", help="The chat's id.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, in the shape of the REST API.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"turnfold {version('turnfold')}")
        raise typer.Exit


@app.callback()
def turnfold(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Runs before every command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Chats hold every script there is; a terminal that lacks one shows a question mark for it.
            stream.reconfigure(errors="replace")


@app.command(epilog="Example: turnfold serve --port 9000")
def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on, else TURNFOLD_HOST.  [default: 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port to listen on, 0 for a free one, else TURNFOLD_PORT.  [default: 8787]"
        ),
    ] = None,
) -> None:
    """Serve the API.

    Ctrl-C or SIGTERM ends it; running requests have a few seconds to end, and interrupted folds go on with the next
    start. The database is made or migrated first.
    """
    import_module("app.cli.serving").serve(host, port)


@app.command(epilog="Example: TURNFOLD_DATABASE_URL=sqlite:///chats.db turnfold migrate")
def migrate() -> None:
    """Bring the database to the newest schema."""
    import_module("app.cli.migrating").migrate_database()


@app.command("import", epilog="Example: turnfold import chats/Mira.jsonl --chat-id mira --fold")
def import_chat(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A chat file; - reads standard input.")],
    chat_id: Annotated[str | None, typer.Option(help="The new chat's id, else the file's own or a new one.")] = None,
    title: Annotated[str | None, typer.Option(help="The new chat's title.")] = None,
    format: Annotated[
        str | None, typer.Option(help="turnfold, sillytavern or openai; by default the content decides.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="FILE", help="The chat's Summaryception memory, if it is a file of its own.")
    ] = None,
    fold: Annotated[
        bool, typer.Option(help="Fold all that lies outside the window now; Ctrl-C keeps what is done.")
    ] = False,
) -> None:
    """Take in a chat from a file. A server on the same database may keep running."""
    import_module("app.cli.importing").import_chat(
        file, chat_id=chat_id, title=title, format=format, memory=memory, fold=fold
    )


@app.command("export", epilog="Example: turnfold export mira --format sillytavern --output Mira.jsonl")
def export_chat(
    chat: ChatId,
    format: Annotated[
        str, typer.Option(help="turnfold carries everything; or sillytavern, summaryception, openai.")
    ] = "turnfold",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="The file, else standard output.")
    ] = None,
) -> None:
    """Write a chat to a file. A server on the same database may keep running."""
    import_module("app.cli.exporting").export_chat(chat, format=format, output=output)


@app.command(epilog="Example: turnfold status mira --json")
def status(chat: ChatId, as_json: AsJson = False) -> None:
    """Show how a chat's memory stands."""
    import_module("app.cli.showing").show(chat, "/sc-status", as_json=as_json)


@app.command(epilog="Example: turnfold preview mira")
def preview(chat: ChatId, as_json: AsJson = False) -> None:
    """Show a chat's memory as the model gets it."""
    import_module("app.cli.showing").show(chat, "/sc-preview", as_json=as_json)


@app.command(epilog="Example: turnfold backlog mira --all")
def backlog(
    chat: ChatId,
    fold_all: Annotated[bool, typer.Option("--all", help="Fold everything outside the window now.")] = False,
    fold_one: Annotated[bool, typer.Option("--one", help="Fold one batch now, then one with every reply.")] = False,
    skip: Annotated[bool, typer.Option("--skip", help="Leave the turns as they are; nothing is hidden.")] = False,
) -> None:
    """Fold an old chat: see what it takes, choose, and watch.

    Without a choice it says what waits, and asks. Ctrl-C stops the work; finished batches stay, and the same command
    goes on. A server on the same database may keep running: whoever is first does the work, and both show it.
    """
    chosen = {"all": fold_all, "one": fold_one, "skip": skip}
    import_module("app.cli.backlog").backlog(chat, [choice for choice, wanted in chosen.items() if wanted])


@app.command(epilog="Example: turnfold doctor --fix")
def doctor(
    fix: Annotated[
        bool, typer.Option("--fix", help="Put right what has one right way. The database is copied before.")
    ] = False,
) -> None:
    """Look for anything wrong with the database and the chats in it.

    It says in plain words what is wrong and what can be done. A server on the same database may keep running. The
    exit status is 0 if nothing is wrong, or all of it is fixed.
    """
    import_module("app.cli.doctor").doctor(fix=fix)


@app.command(epilog="Example: turnfold backup /backups/turnfold-monday.db")
def backup(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where the copy goes; a file that is not there yet.")],
) -> None:
    """Copy the database to a file, whole and of one moment. A server on it may keep running."""
    import_module("app.cli.copying").backup(file)


@app.command(epilog="Example: turnfold restore /backups/turnfold-monday.db")
def restore(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A backup, which is checked first.")],
) -> None:
    """Put a backup in the place of the database. Stop the server first.

    The database that is there now is kept beside it. While any program uses it, nothing is changed.
    """
    import_module("app.cli.copying").restore(file)


@app.command(epilog="Example: turnfold compare chats/Mira.jsonl --turns 300 --context-size 16384")
def compare(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A chat file that could be imported; - reads standard input.")
    ],
    turns: Annotated[int | None, typer.Option(min=1, help="Stop after so many turns.")] = None,
    context_size: Annotated[int, typer.Option(min=2, help="The window of the model that answers, in tokens.")] = 8192,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens of it kept for the answer, else a quarter, 1024 at most.")
    ] = None,
    strategies: Annotated[
        str, typer.Option(help="Which ones, with commas between.")
    ] = "layered,rolling,summary_buffer,none",
    model: Annotated[
        bool,
        typer.Option(
            "--connection-from-env", help="Summarize with the model of TURNFOLD_LLM_… instead of the built-in way."
        ),
    ] = False,
    chart: Annotated[
        str | None, typer.Option(metavar="FILE.svg", help="Where the chart goes.  [default: compare.svg]")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="All figures as JSON; a chart only where --chart says.")
    ] = False,
) -> None:
    """Play a chat through every strategy, side by side.

    It shows what each of them sends, what summarizing takes, how much of a prompt a cache could use again, and what is
    still there word for word at the end. Nothing is kept but the chart. Ctrl-C shows what is done so far.
    """
    import_module("app.cli.comparing").compare(
        file,
        turns=turns,
        context_size=context_size,
        max_tokens=max_tokens,
        strategies=strategies,
        model=model,
        chart=chart,
        as_json=as_json,
    )


@app.command(epilog="Example: turnfold demo --keep demo.db")
def demo(
    turns: Annotated[int | None, typer.Option(min=1, help="Stop after so many turns.")] = None,
    keep: Annotated[str | None, typer.Option(metavar="PATH", help="Keep the database in this new file.")] = None,
    model: Annotated[
        bool, typer.Option("--model", help="Summarize with the model of TURNFOLD_LLM_… instead of the built-in way.")
    ] = False,
) -> None:
    """Watch a long story fold into memory.

    It takes some seconds, needs no model and leaves nothing behind. At the end you see what the model would get next,
    and that every message is still there.
    """
    import_module("app.cli.demo").demo(turns, keep, model=model)
