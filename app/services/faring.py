"""Telling those who watch everything that connections fare otherwise than before."""

from dataclasses import dataclass, field
from datetime import datetime

from app.core.health import State
from app.services.noting import note_settings
from app.services.ports import ModelServers
from app.store.engine import Database

_Fares = tuple[State, datetime | None]
"""Its state, and until when it is left alone."""


@dataclass
class Faring:
    """What was told last of the connections that this process calls; those that are well are left out."""

    db: Database
    servers: ModelServers
    _told: dict[str, _Fares] = field(default_factory=dict)

    def tell(self) -> None:
        """Note it if one works, fails or is left alone otherwise than at the last look.

        Calls write nothing for it, and where nobody looks nothing is written. Where the database does not take it, it
        raises what that raises, and is told at the next look.
        """
        found: dict[str, _Fares] = {
            name: (health.state, health.retry_at if health.state == "cooling_down" else None)
            for name, health in self.servers.healths().items()
            if health.state != "ok"
        }
        if found == self._told:
            return
        with self.db.write() as session:
            note_settings(session, "connections")
        self._told = found
