"""Bringing a database to the present schema, with Alembic."""

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from app.resources import resource_dir


def migrate(engine: Engine, revision: str = "head") -> None:
    """Run the migrations that are still missing, in one transaction."""
    config = _config()
    with engine.connect().execution_options(turnfold_write=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def is_current(engine: Engine) -> bool:
    """Whether the database has exactly the schema this version works with."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision() == head


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(resource_dir("migrations")))
    config.set_main_option("path_separator", "os")
    return config
