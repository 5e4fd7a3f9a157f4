"""How far a job is, from what it has done."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """Batches; `eta_s` seconds that are left, None before the first batch and once the job has ended."""

    done: int
    total: int
    failed: int
    percent: int
    eta_s: float | None


def progress(state: str, done: int, total: int, failed: int, spent_s: float | None) -> Progress:
    """The progress of a job in a state, `spent_s` after it began (None if it has not).

    What is left takes as long a batch as what is done did, however many ran at once.
    """
    percent = 100 if state == "succeeded" else 100 * done // total if total else 0
    eta = None
    if state == "running" and done and spent_s is not None:
        eta = round(spent_s / done * max(0, total - done), 1)
    return Progress(done, total, failed, percent, eta)
