"""Connections: the environment's default, the extractive summarizer that is always there, and stored ones."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from sqlmodel import Session

from app.core.health import Trial
from app.core.summary import Connection, Provider, counted_as
from app.errors import Conflict, InvalidRequest, NotFound
from app.services.noting import note_settings
from app.services.ports import ModelServers
from app.settings import Settings
from app.store import client_calls
from app.store import connections as stored
from app.store.engine import Database
from app.store.tables import ConnectionRow
from app.store.vault import Vault

_KEY = "encrypted_api_key"
EXTRACTIVE = Connection(name="extractive", provider="extractive")


@dataclass(frozen=True, slots=True)
class ConnectionView:
    """A connection as it is shown: the key never comes out. `source`: environment, stored or built_in."""

    name: str
    provider: str
    base_url: str | None
    model: str | None
    has_api_key: bool
    context_size: int | None
    temperature: float | None
    max_tokens: int | None
    timeout_s: float
    concurrency: int
    extra_body: dict[str, Any]
    source: str


@dataclass(frozen=True)
class Connections:
    """Reading, changing and trying connections."""

    db: Database
    vault: Vault
    env: Settings
    servers: ModelServers

    def resolve(self, session: Session, name: str) -> Connection:
        """How to reach a model. Raises NotFound, and InvalidRequest when its key cannot be read any more."""
        row = stored.find(session, name)
        connection = self._describe(row, name)
        if row is None or row.encrypted_api_key is None:
            return connection
        return replace(connection, api_key=self.vault.unlock(row.encrypted_api_key))

    def describe(self, session: Session, name: str) -> Connection:
        """The same without a stored key, which a look at its window or its name does not need. Raises NotFound."""
        return self._describe(stored.find(session, name), name)

    def _describe(self, row: ConnectionRow | None, name: str) -> Connection:
        if row is not None:
            return self._from_row(row)
        if name == EXTRACTIVE.name:
            return EXTRACTIVE
        if name == "default":
            return self._from_environment()
        raise NotFound(f"There is no connection {name!r}. PUT /v1/connections/{name} makes it.")

    def counted_model(self, session: Session, name: str) -> str | None:
        """The model whose tokens are counted (`counted_as`); a connection that is not there counts like no model."""
        found = stored.model_of(session, name)
        if found is None:
            found = (self.env.llm_provider, self.env.llm_model) if name == "default" else (EXTRACTIVE.provider, None)
        return counted_as(*found)

    def all(self) -> list[ConnectionView]:
        """All connections by name."""
        with self.db.read() as session:
            names = {"default", EXTRACTIVE.name, *(row.name for row in stored.all_stored(session))}
            return [self._view(session, name) for name in sorted(names)]

    def get(self, name: str) -> ConnectionView:
        """One connection. Raises NotFound."""
        with self.db.read() as session:
            return self._view(session, name)

    def put(self, name: str, fields: dict[str, Any], *, keep_key: bool, api_key: str | None) -> ConnectionView:
        """Replace a connection; with `keep_key` its key stays if it still goes to the same place.

        What is known of how it fares is forgotten, whether anything is another or not.
        """
        if name == EXTRACTIVE.name:
            raise Conflict("The extractive connection is built in and cannot be changed; choose another name.")
        _check(fields)
        with self.db.write() as session:
            old = stored.find(session, name)
            kept = old.encrypted_api_key if old and keep_key and _same_place(old, fields) else None
            values = {**fields, _KEY: self._locked(old, api_key) if api_key else kept}
            changed = {field for field, value in values.items() if old is None or getattr(old, field) != value}
            if changed - {_KEY}:
                client_calls.withdraw(session, client_calls.of_connection(name))
            if changed:
                stored.save(session, name, values)
                session.flush()
                note_settings(session, "connections")
            view = self._view(session, name)
        self.servers.forget(name)
        return view

    def delete(self, name: str) -> None:
        """Forget a stored connection; `default` returns to the environment."""
        if name == EXTRACTIVE.name:
            raise Conflict("The extractive connection is built in and cannot be deleted.")
        with self.db.write() as session:
            was_there = stored.remove(session, name)
            if was_there:
                note_settings(session, "connections")
            elif name != "default":
                raise NotFound(f"There is no connection {name!r}.")
            client_calls.withdraw(session, client_calls.of_connection(name))
        self.servers.forget(name)

    async def models(self, name: str) -> list[str]:
        """The models its server offers. Raises ModelError when it cannot be asked."""
        return await self.servers.models(await asyncio.to_thread(self._read, name))

    async def test(self, name: str) -> Trial:
        """Ask its model for a few words."""
        return await self.servers.test(await asyncio.to_thread(self._read, name))

    def _read(self, name: str) -> Connection:
        with self.db.read() as session:
            return self.resolve(session, name)

    def _locked(self, old: ConnectionRow | None, api_key: str) -> str:
        """A key encrypted; as it is stored already if it is the same."""
        if old is not None and old.encrypted_api_key is not None:
            with suppress(InvalidRequest):  # stored under another secret
                if self.vault.unlock(old.encrypted_api_key) == api_key:
                    return old.encrypted_api_key
        return self.vault.lock(api_key)

    def _view(self, session: Session, name: str) -> ConnectionView:
        connection, row = self.describe(session, name), stored.find(session, name)
        has_key = row.encrypted_api_key is not None if row else connection.api_key is not None
        source = "stored" if row else "built_in" if name == EXTRACTIVE.name else "environment"
        return ConnectionView(
            name=name,
            provider=connection.provider,
            base_url=connection.base_url,
            model=connection.model,
            has_api_key=has_key,
            context_size=connection.context_size,
            temperature=connection.temperature,
            max_tokens=connection.max_tokens,
            timeout_s=connection.timeout_s,
            concurrency=connection.concurrency,
            extra_body=dict(connection.extra_body),
            source=source,
        )

    def _from_environment(self) -> Connection:
        env = self.env
        return Connection(
            name="default",
            provider=env.llm_provider,
            base_url=env.llm_base_url,
            model=env.llm_model,
            api_key=env.llm_api_key.get_secret_value() if env.llm_api_key else None,
            context_size=env.llm_context_size,
            timeout_s=env.llm_timeout_s,
            concurrency=env.llm_concurrency,
        )

    def _from_row(self, row: ConnectionRow) -> Connection:
        provider: Any = row.provider
        return Connection(
            name=row.name,
            provider=provider,
            base_url=row.base_url,
            model=row.model,
            context_size=row.context_size,
            temperature=row.temperature,
            max_tokens=row.max_tokens,
            timeout_s=row.timeout_s or self.env.llm_timeout_s,
            concurrency=row.concurrency or self.env.llm_concurrency,
            extra_body=row.extra_body or {},
        )


def _check(fields: dict[str, Any]) -> None:
    provider: Provider = fields["provider"]
    if provider == "openai" and not fields.get("base_url"):
        raise InvalidRequest("A connection with provider openai needs base_url, e.g. http://127.0.0.1:8080/v1.")


def _same_place(row: ConnectionRow, fields: dict[str, Any]) -> bool:
    return (row.provider, row.base_url) == (fields["provider"], fields.get("base_url"))
