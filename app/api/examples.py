"""Examples for every body and answer in OpenAPI: what a small server really said, kept in examples.json.

A test checks each of them against the models, so that none can rot.
"""

import json
from pathlib import Path
from typing import Any

EXAMPLES: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
"""By "method path" of the route: `request`, and `responses` by status."""

EVENTS = {
    "all": 'id: 6\nevent: history\ndata: {"why":"append","messages":204,"chat_id":"harbour"}\n\n',
    "chat": (
        'id: 6\nevent: summarized\ndata: {"covered_through":{"message_id":"a3","index":5},"folded_turns":3,'
        '"summary_chars":212,"snippet_id":"5d0c7a52-6f0e-4c6b-9a52-0a4f0b4a7a10","layer":0,"memory_version":1}\n\n'
    ),
    "job": (
        'id: 7\nevent: progress\ndata: {"done":1,"total":51,"failed":0,"percent":1,"eta_s":100.0,'
        '"usage":{"calls":1,"prompt_tokens":612,"completion_tokens":48}}\n\n'
    ),
}
"""An event of each stream."""

_IMPORT_FILE = (
    '{"user_name":"Mira","character_name":"Tom"}\n{"name":"Tom","is_user":false,"mes":"Not since the storm."}\n'
)
_MEMORY_FILE = '{"layers":[[{"text":"Mira asks for the ferry.","turnRange":[0,1]}]],"summarizedUpTo":1}\n'
_FILES = {"/v1/import": _IMPORT_FILE, "/v1/chats/{chat_id}/import": _MEMORY_FILE}


def add_examples(description: dict[str, Any]) -> None:
    """Put the examples into an OpenAPI description."""
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            known = EXAMPLES.get(f"{method} {path}", {})
            _add(operation.get("requestBody", {}), known.get("request"))
            for status, answer in operation["responses"].items():
                _add(answer, known.get("responses", {}).get(status))
    for path, file in _FILES.items():
        operation = description["paths"].get(path, {}).get("post", {})
        for kind, media in operation.get("requestBody", {}).get("content", {}).items():
            media["example"] = {"file": file} if kind.startswith("multipart") else file


def _add(described: dict[str, Any], example: Any) -> None:
    media = described.get("content", {}).get("application/json")
    if media is not None and example is not None:
        media["example"] = example
