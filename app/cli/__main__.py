"""`python -m app.cli`."""

from app.cli import app

app(prog_name="turnfold")
