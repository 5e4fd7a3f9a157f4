"""The HTTP application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from app.api.guards import install_guards
from app.api.idempotency import install_idempotency
from app.api.pages import serve_pages
from app.api.problems import install_problems
from app.api.routes import routers
from app.assembly import Server, assemble
from app.logs import configure_logs
from app.settings import Settings
from app.store.engine import sqlite_file
from app.store.migrate import migrate


def create_app(settings: Settings | None = None, server: Server | None = None) -> FastAPI:
    """An application with its own parts, or with those of `server`; jobs run while its lifespan does."""
    server = server or assemble(settings or Settings())
    settings = server.settings
    configure_logs(settings.log_level)
    app = FastAPI(
        title="Turnfold",
        version=version("turnfold"),
        summary="Conversation memory for chat frontends.",
        description="Recent turns verbatim, older ones folded into layered summaries, nothing ever deleted.",
        lifespan=_lifespan,
        docs_url=None,  # ours, in app.api.pages: FastAPI's own page loads its parts from elsewhere
        redoc_url=None,
    )
    app.state.server = server
    app.state.services = server.services
    for router in routers:
        app.include_router(router)
    serve_pages(app)
    install_problems(app)
    install_idempotency(app, server.db)
    install_guards(app, settings)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    server: Server = app.state.server
    if sqlite_file(server.settings.database_url) is not None:
        migrate(server.db.engine)
    await server.start()
    yield
    await server.stop()
