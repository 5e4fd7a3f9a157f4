"""Whether settings that a person makes fit together, and what they are used with."""

from collections.abc import Mapping
from typing import Any

from sqlmodel import Session

from app.core.resolving import contradictions, lacking, resolve, resolve_unclamped
from app.errors import FieldError, InvalidRequest, NotFound
from app.services.connections import Connections
from app.store import chats


def check_values(server: Mapping[str, Any], own: Mapping[str, Any], where: list[str | int]) -> None:
    """Refuse values that do not fit together; a person who sets them should hear of it at once. Raises InvalidRequest,
    whose places begin with `where`.
    """
    found = contradictions(resolve_unclamped(server, own)) | lacking(server, own)
    if found:
        errors: list[FieldError] = [{"loc": [*where, *place], "msg": text} for place, text in found.items()]
        detail = "; ".join(f"{strategy}.{name} {text}" for (strategy, name), text in found.items())
        raise InvalidRequest(f"{detail}.", errors)


def check_window(
    session: Session, connections: Connections, own: Mapping[str, Any], change: Mapping[str, Any] | None
) -> None:
    """Refuse a summarizer's window in `change` that is larger than its model is known to have; `own` are a chat's
    settings with the change in them. Raises InvalidRequest.
    """
    wanted = ((change or {}).get("rolling") or {}).get("context_size")
    settings = resolve(chats.server_settings(session), own)[0]
    if not wanted or settings.rolling.model_name:
        return
    try:
        known = connections.describe(session, settings.connection).context_size
    except NotFound:
        return
    if known is not None and wanted > known:
        said = f"rolling.context_size {wanted} is more than connection {settings.connection!r} has ({known})"
        errors: list[FieldError] = [{"loc": ["body", "settings", "rolling", "context_size"], "msg": said}]
        raise InvalidRequest(f"{said}; lower it, or correct the connection's context_size.", errors)
