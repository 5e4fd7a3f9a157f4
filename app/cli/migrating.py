"""`turnfold migrate`."""

import typer

from app.cli.database import bring_up_to_date, database_file
from app.cli.failing import plain_errors
from app.settings import Settings


@plain_errors()
def migrate_database() -> None:
    """Migrate, and say from where to where."""
    url = Settings().database_url
    before, after = bring_up_to_date(url)
    file = database_file(url)
    if before == after:
        typer.echo(f"{file} has the newest schema already ({after}).")
    else:
        typer.echo(f"{file} migrated from {before or 'nothing'} to {after}.")
