"""Bringing a database to the present schema, with Alembic."""

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine

from app.errors import Conflict
from app.resources import resource_dir
from app.store.engine import WRITE, execute_outside


def migrate(engine: Engine) -> None:
    """Run the migrations that are still missing, in one transaction.

    Raises Conflict where a newer version made the database, or where rows would be left without their parents.
    """
    if is_current(engine):
        return
    with schema_change(engine) as config:
        command.upgrade(config, "head")


def is_current(engine: Engine) -> bool:
    """Whether the database has exactly the schema this version works with."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    with engine.connect() as connection:
        return _revision(connection) == head


@contextmanager
def schema_change(engine: Engine) -> Iterator[Config]:
    """A transaction for Alembic's commands; its connection is in the config's attributes.

    SQLite changes most of a table by building it anew and dropping the old one, which would delete every row that
    points at it with ON DELETE CASCADE. So foreign keys are not enforced meanwhile, but checked before the commit
    (https://www.sqlite.org/lang_altertable.html#otheralter). Raises Conflict as `migrate` does.
    """
    config = _config()
    writing = engine.connect().execution_options(**{WRITE: True})
    with writing as connection, _unenforced(connection), connection.begin():
        _refuse_newer(connection, config)
        config.attributes["connection"] = connection
        yield config
        _refuse_orphans(connection)


@contextmanager
def _unenforced(connection: Connection) -> Iterator[None]:
    """No foreign keys for a while: only outside a transaction can SQLite turn them off, and on again."""
    if connection.dialect.name != "sqlite":
        yield
        return
    execute_outside(connection, "PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        execute_outside(connection, "PRAGMA foreign_keys = ON")


def _refuse_newer(connection: Connection, config: Config) -> None:
    found = _revision(connection)
    if found is None:
        return
    try:
        ScriptDirectory.from_config(config).get_revision(found)
    except CommandError:
        raise Conflict(
            f"A newer version of Turnfold made this database (its schema is {found}); update Turnfold to use it."
        ) from None


def _refuse_orphans(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        return
    orphan = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if orphan is not None:
        raise Conflict(
            f"The database was not migrated, because a row of {orphan[0]} would point at a row of {orphan[2]} that is"
            " not there. Nothing was changed; keep a copy of the file and report this."
        )


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(resource_dir("migrations")))
    config.set_main_option("path_separator", "os")
    return config
