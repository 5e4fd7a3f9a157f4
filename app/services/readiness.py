"""Whether this process can do its work."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.exc import SQLAlchemyError

from app.core.health import Health, State
from app.services.ports import ModelServers
from app.store import chats
from app.store.engine import Database
from app.store.migrate import is_current


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must be well; `detail` says what to do if it is not."""

    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class ConnectionHealth:
    """How the connection of a name fares; the rest is as in Health."""

    name: str
    state: State
    retry_at: datetime | None
    last_error: str | None

    @classmethod
    def of(cls, name: str, health: Health) -> "ConnectionHealth":
        """With its name."""
        return cls(name, health.state, health.retry_at, health.last_error)


@dataclass(frozen=True, slots=True)
class Readiness:
    """Ready when database and worker are; a failing connection is shown, and folding waits for it.

    `connections` in the order of their names: those that this process has called, and the default one.
    """

    ready: bool
    database: Check
    worker: Check
    default_connection: Health
    connections: list[ConnectionHealth]


@dataclass(frozen=True)
class Readying:
    """Looks at the database, the worker and the breakers."""

    db: Database
    servers: ModelServers
    worker_alive: Callable[[], bool]

    def check(self) -> Readiness:
        """How things stand now."""
        database = self._database()
        alive = self.worker_alive()
        worker = Check(alive, "running" if alive else "The worker has stopped; restart the server.")
        default = self.servers.health("default")
        by_name = {"default": default, **self.servers.healths()}
        connections = [ConnectionHealth.of(name, health) for name, health in sorted(by_name.items())]
        return Readiness(database.ok and worker.ok, database, worker, default, connections)

    def _database(self) -> Check:
        try:
            if not is_current(self.db.engine):
                return Check(False, "The database has another schema than this version; run turnfold migrate.")
            with self.db.write() as session:
                chats.server_settings(session)
        except SQLAlchemyError as error:
            return Check(False, f"The database cannot be written: {type(error).__name__}.")
        return Check(True, "migrated and writable")
