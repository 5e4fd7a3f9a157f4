"""The model servers that are spoken to: the wire format of each, and the models it lists."""

from collections.abc import Callable

import httpx

from app.core.summary import Connection
from app.llm import ollama, openai
from app.llm.http import Clock, exchange
from app.llm.wire import WireFormat, wrong_settings

_LIST_TIMEOUT_S = 30.0  # a list is no answer of a model; people wait for it
_FORMATS: dict[str, WireFormat] = {"openai": openai, "ollama": ollama}


def wire_format(connection: Connection) -> WireFormat:
    """How a connection's server is spoken to. Raises CallFailed where this process cannot."""
    wire = _FORMATS.get(connection.provider)
    if wire is None:
        raise wrong_settings(f"has the provider {connection.provider!r}, which this server cannot call")
    return wire


async def listed_models(client: httpx.AsyncClient, connection: Connection, clock: Clock) -> list[str]:
    """The models a server offers, in its order. Raises CallFailed."""
    lines: list[str] = []
    wire = wire_format(connection)
    timeout_s = min(connection.timeout_s, _LIST_TIMEOUT_S)
    await exchange(client, wire.models_request(connection), timeout_s, clock, _collect(lines))
    return wire.parse_models("\n".join(lines))


def _collect(lines: list[str]) -> Callable[[str], bool]:
    def take(line: str) -> bool:
        lines.append(line)
        return False

    return take
