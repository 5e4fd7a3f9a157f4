"""What docs/summary-buffer.md says of summary buffers is so."""

import json
from dataclasses import fields

from app.api.schemas.projection import ProjectionError, StoredMessage
from app.core.settings import BUFFER_RANGES, BufferSettings
from app.store.sessions import IDLE_MS
from tests.docs.pages import ROOT, code, table

PAGE = ROOT / "docs" / "summary-buffer.md"


def test_settings_are_explained() -> None:
    """Names, defaults and ranges are those of the code."""
    rows = {code(row[0])[0]: row for row in table(PAGE, "buffer setting")}
    assert rows.keys() == {field.name for field in fields(BufferSettings)}
    for name, row in rows.items():
        default = getattr(BufferSettings(), name)
        if name in BUFFER_RANGES:
            low, high = BUFFER_RANGES[name]
            assert row[1:3] == [f"{default:g}", f"{low}–{high}"]
        else:
            assert row[1:3] == [f"`{json.dumps(default)}`", ""]


def test_what_is_exposed_is_explained() -> None:
    """The fields of an error and of a stored message are named, in their order, and so is a session's patience."""
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for model in (ProjectionError, StoredMessage):
        assert ", ".join(f"`{name}`" for name in model.model_fields) in text
    assert f"nobody has used for {IDLE_MS // 60_000} minutes" in text
