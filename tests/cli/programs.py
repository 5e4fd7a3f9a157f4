"""Commands as programs, and chats to give them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from tests.support.fake_model import FakeModel

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "app.cli"]

Run = Callable[..., Result]
Start = Callable[..., "subprocess.Popen[str]"]


def environment(**settings: str) -> dict[str, str]:
    """The environment of a program that is run from the checkout."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    named = {f"TURNFOLD_{name.upper()}": value for name, value in settings.items()}
    return {**os.environ, "PYTHONPATH": path, "COLUMNS": "100", **named}


def write_chat(path: Path, turns: int) -> Path:
    """Turns that differ, as OpenAI messages."""
    lines = [
        {"role": role, "content": f"{text} gate {turn} of the old town, where {turn * 7} lamps burn."}
        for turn in range(turns)
        for role, text in (("user", "Mira asks who keeps"), ("assistant", "Tom says that he opens"))
    ]
    path.write_text(json.dumps(lines), encoding="utf-8")
    return path


def use(monkeypatch: pytest.MonkeyPatch, model: FakeModel) -> None:
    """Have commands ask this model for summaries."""
    monkeypatch.setenv("TURNFOLD_LLM_PROVIDER", "openai")
    monkeypatch.setenv("TURNFOLD_LLM_BASE_URL", model.base_url)
    monkeypatch.setenv("TURNFOLD_LLM_MODEL", "fake-small")
