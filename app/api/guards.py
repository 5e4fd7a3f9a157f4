"""What stands between the network and the routes; app.api.stack says in which order."""

from fastapi import FastAPI

from app.api.access import Keys, Paths, SafetyHeaders
from app.api.bodies import BodyLimits, MediaTypes
from app.api.heads import Heads
from app.api.origins import Hosts, Origins
from app.api.stack import add_layer
from app.api.tracing import RequestIds
from app.settings import Settings


def install_guards(app: FastAPI, settings: Settings) -> None:
    """Put all guards around `app`. Without an API key, or with an empty one, no key is asked for."""
    add_layer(app, RequestIds)
    add_layer(app, SafetyHeaders)
    add_layer(app, Hosts, names=settings.hosts)
    add_layer(app, Origins, origins=settings.cors_origins)
    add_layer(app, Heads)
    add_layer(app, Paths)
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    if key:
        add_layer(app, Keys, key=key)
    add_layer(app, MediaTypes)
    add_layer(app, BodyLimits, limit_mb=settings.max_body_mb, import_limit_mb=settings.import_max_mb)
