"""`turnfold serve`."""

import gc
import os
import signal
import socket
import threading
from errno import EACCES, EADDRINUSE
from ipaddress import ip_address
from typing import Any

import typer
import uvicorn

from app.assembly import assemble
from app.cli.database import bring_up_to_date, database_file
from app.cli.failing import CannotRun, plain_errors, warn
from app.main import create_app
from app.settings import Settings

_REQUESTS_END_S = 6
"""Seconds that requests have to end in, once jobs are cut."""

_ALL_ENDS_S = 8
"""Seconds after which a stop waits for nothing more; who runs a service often kills it after ten."""


@plain_errors()
def serve(host: str | None, port: int | None) -> None:
    """Serve until a signal comes."""
    flags: dict[str, Any] = {"host": host, "port": port}
    settings = Settings(**{name: value for name, value in flags.items() if value is not None})
    listener = _listen(settings.host, settings.port)
    bring_up_to_date(settings.database_url)
    server = _Server(settings, listener.getsockname()[1])
    # uvicorn ends gracefully, then raises the signal again for who was there before it: to have ended as asked is no
    # failure. A signal that comes before it listens for signals is not lost either.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.handle_exit)
    _spare_garbage_collector()
    server.run(sockets=[listener])
    typer.echo("Stopped.")


def _spare_garbage_collector() -> None:
    """What is there by now stays to the end: looking through it again and again made long requests a third slower."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


class _Server(uvicorn.Server):
    """Says where it listens once that is true."""

    def __init__(self, settings: Settings, port: int) -> None:
        parts = assemble(settings)
        config = uvicorn.Config(
            create_app(server=parts),
            lifespan="on",
            ws="none",
            # Requests are logged by RequestIds: uvicorn would quote their queries. The greeting replaces its lines.
            access_log=False,
            log_level="warning" if settings.log_level == "info" else settings.log_level,
            timeout_graceful_shutdown=_REQUESTS_END_S,
        )
        super().__init__(config)
        self._settings = settings
        self._port = port
        self._runner, self._watching, self._calls = parts.runner, parts.services.watching, parts.services.client_calls

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            typer.echo(greeting(self._settings, self._port))
            for line in warnings(self._settings):
                warn(line)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Jobs first: their calls to models are cut at once, and appends that wait for a fold have their answer.

        Then streams of events, which tell of that and would never end by themselves, and who waits for client calls.
        """
        last = threading.Timer(_ALL_ENDS_S, _end_now)
        last.daemon = True
        last.start()
        await self._runner.stop()
        self._watching.close()
        self._calls.close()
        await super().shutdown(sockets)


def _end_now() -> None:
    """Threads that wait for a locked database cannot be cut, and hold up the interpreter's end."""
    warn("The database is locked by another program; this one ends without waiting for it. The next start goes on.")
    os._exit(1)


def greeting(settings: Settings, port: int) -> str:
    """Where the server is, where the chats are, and who summarizes."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    file = database_file(settings.database_url).absolute()
    return f"Turnfold on http://{host}:{port}/ · chats in {file} · {_summarizer(settings)} · Ctrl-C stops it"


def warnings(settings: Settings) -> list[str]:
    """What somebody who opens the server to other machines should know."""
    if _is_loopback(settings.host):
        return []
    found = []
    if settings.api_key is None:
        found.append(
            f"Other machines can reach {settings.host}, and no key is asked for: anyone there can read and change every"
            " chat. Set TURNFOLD_API_KEY."
        )
    if settings.allowed_hosts is None:
        found.append(f"Only the names {', '.join(settings.hosts)} are answered; set TURNFOLD_ALLOWED_HOSTS for others.")
    return found


def _summarizer(settings: Settings) -> str:
    if settings.llm_provider == "extractive":
        return "built-in extractive summarizer (set TURNFOLD_LLM_PROVIDER and TURNFOLD_LLM_BASE_URL for a model)"
    model = f" {settings.llm_model}" if settings.llm_model else ""
    return f"summaries by {settings.llm_provider}{model} at {settings.llm_base_url or 'no address yet'}"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything else is begun. Raises CannotRun."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reasons = {
            EADDRINUSE: f"Port {port} is taken: another program, or another Turnfold, listens there",
            EACCES: f"Port {port} may not be used by this account",
        }
        reason = reasons.get(error.errno or 0, f"{host}:{port} cannot be listened on ({error.strerror})")
        raise CannotRun(f"{reason}. Choose another with --host and --port.") from None
