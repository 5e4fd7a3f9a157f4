"""All routes, in the order the documentation shows them."""

from app.api.routes import (
    chats,
    commands,
    connections,
    events,
    exports,
    health,
    history,
    imports,
    jobs,
    memory,
    messages,
    projection,
    repair,
    search,
    settings,
    snippets,
)

routers = [
    chats.router,
    messages.router,
    history.router,
    projection.router,
    memory.router,
    repair.router,
    snippets.router,
    search.router,
    commands.router,
    imports.router,
    jobs.router,
    events.router,
    connections.router,
    exports.router,
    settings.router,
    health.router,
]
