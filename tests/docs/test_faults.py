"""The page on faults shows the table that is acted out: no row is missing, invented, or says something else."""

from tests.docs.pages import ROOT, table
from tests.end_to_end.faults import FAULTS, GROWING, Fault, Then

PAGE = ROOT / "docs" / "faults.md"

NEXT: dict[Then, str] = {
    "goes on": "by itself",
    "cools down": "by itself, later",
    "waits": "next message",
    "kept": "a snippet",
    "degraded": "a degraded snippet",
}


def shown(fault: Fault) -> list[str]:
    """A row of the page."""
    reads = [] if fault.then in ("kept", "degraded") else [fault.reads]
    state = f"`{fault.state}`, {fault.rest:,.0f} s" if fault.rest else f"`{fault.state}`"
    return [fault.name, str(fault.calls), _pauses(fault), *reads, state, NEXT[fault.then]]


def _pauses(fault: Fault) -> str:
    if fault.pauses == GROWING:
        return "growing"
    return f"{fault.pauses[0]:g} s" if fault.pauses else "none"


def test_every_fault_stands_on_the_page() -> None:
    """What the server does, what it costs, what people read, and what comes next, in the order of the tests."""
    assert table(PAGE, "what the server does", "calls") == [shown(fault) for fault in FAULTS]
