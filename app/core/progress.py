"""How far a job is, from what it has done."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """Batches; `eta_s` seconds that are left, None before the first batch, while every call had to wait, and once the
    job has ended.
    """

    done: int
    total: int
    failed: int
    percent: int
    eta_s: float | None


def progress(state: str, done: int, total: int, failed: int, eta_s: float | None) -> Progress:
    """The progress of a job in a state; `eta_s`: what the pace of its newest batches says, if it still runs."""
    percent = 100 if state == "succeeded" else 100 * done // total if total else 0
    return Progress(done, total, failed, percent, eta_s if state == "running" else None)
