"""`python -m bench`: measure, and print what was found beside what was hoped for."""

import argparse
import tempfile
from pathlib import Path

from app.logs import configure_logs
from bench.scale import FULL, QUICK, USUAL, Scale
from bench.scenarios import SCENARIOS
from bench.session import Session
from bench.showing import console, load, machine, table


def main() -> None:
    """Run the chosen scenarios, one after the other."""
    options = _options()
    configure_logs("warning")  # of the scenarios that run in this process
    out = console()
    out.print(machine())
    out.print(f"load before: {load()}")
    figures = []
    with tempfile.TemporaryDirectory(prefix="turnfold-bench-") as folder:
        session = Session(_scale(options), Path(folder))
        for name in options.scenarios or SCENARIOS:
            out.print(f"… {name}")
            figures += SCENARIOS[name](session)
    out.print(f"load after: {load()}")
    out.print(table(figures))
    if options.quick:
        out.print("Quick: too small and too short to compare with the aims; it shows that everything runs.")


def _scale(options: argparse.Namespace) -> Scale:
    return QUICK if options.quick else FULL if options.full else USUAL


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures Turnfold against floors.")
    names = ", ".join(SCENARIOS)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"which to run (default: all of {names})")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    size.add_argument(
        "--full", action="store_true", help="a backlog of 3,000 turns, one call a second too: half an hour"
    )
    options = parser.parse_args()
    unknown = set(options.scenarios) - set(SCENARIOS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {names}")
    return options


if __name__ == "__main__":
    main()
