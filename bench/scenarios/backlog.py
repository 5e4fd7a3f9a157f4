"""A backlog folded sixteen calls at once against one at a time, with a model that takes its time over real HTTP."""

import time
from datetime import datetime
from typing import Any

from bench.figures import Aim, Figure
from bench.measuring import spread
from bench.processes import Remote, model_settings, scripted_model
from bench.prose import as_file, messages
from bench.session import Session

_MANY = 16
_POLL_S = 0.5
_LIMIT_S = 3_600.0


def backlog(session: Session) -> list[Figure]:
    """Turns a second from the start of the job to its end; and its time beside what the calls alone must take."""
    turns, latency_s = session.scale.waiting_turns, session.scale.latency_s
    file = as_file(messages(2 * turns))
    with (
        scripted_model(latency_s, session.folder) as model,
        session.serve("backlog", settings=model_settings(model.port, _MANY)) as server,
    ):
        many_s = _fold(server, file, _MANY)
        calls: int = model.get("/")["calls"]
        one_s = _fold(server, file, 1)
    what = f"backlog of {turns:,} turns, model answering in {latency_s:g} s, {_MANY} at once"
    return [
        Figure(
            scenario="backlog",
            what=what,
            unit="turns/s",
            value=spread([turns / many_s]),
            floor_name="one at a time",
            floor=spread([turns / one_s]),
            ratio=spread([one_s / many_s]),
            aim=Aim("ratio", "at least", 12),
        ),
        Figure(
            scenario="backlog",
            what=f"the same, {calls:,} calls",
            unit="s",
            value=spread([many_s]),
            floor_name=f"the calls alone, {_MANY} at once",
            floor=spread([calls * latency_s / _MANY]),
            ratio=spread([many_s * _MANY / (calls * latency_s)]),
            aim=Aim("ratio", "at most", _MANY / 12),
        ),
    ]


def _fold(server: Remote, file: bytes, at_once: int) -> float:
    """Seconds."""
    chat = f"at-once-{at_once}"
    server.ask("POST", f"/v1/import?chat_id={chat}", file)
    server.put(f"/v1/chats/{chat}", {"settings": {"layered": {"backlog_concurrency": at_once}}})
    job = _ended(server, server.post(f"/v1/chats/{chat}/backlog", {"choice": "all"})["job"]["id"])
    took = datetime.fromisoformat(job["finished_at"]) - datetime.fromisoformat(job["created_at"])
    return took.total_seconds()


def _ended(server: Remote, job_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + _LIMIT_S
    while True:
        job: dict[str, Any] = server.get(f"/v1/jobs/{job_id}")
        if job["state"] == "succeeded":
            return job
        if job["state"] not in ("queued", "running") or time.monotonic() > deadline:
            raise RuntimeError(f"the backlog did not fold: {job}")
        time.sleep(_POLL_S)
