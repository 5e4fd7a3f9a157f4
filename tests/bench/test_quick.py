"""The benchmarks run. What they measure here says nothing: no time is asserted."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]


def bench(*options: str) -> subprocess.CompletedProcess[str]:
    """Run the benchmarks as a person would."""
    command = [sys.executable, "-m", "bench", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=580, check=False)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_scenario_runs_and_prints_its_figures() -> None:
    """`python -m bench --quick` measures every scenario and prints the machine, its load and a line for each."""
    ran = bench("--quick")
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert "cores" in lines[0]
    assert any(line.startswith("load before:") for line in lines)
    assert any(line.startswith("load after:") for line in lines)
    table = lines[lines.index(next(line for line in lines if line.startswith("load after:"))) :]
    for name in SCENARIOS:
        assert any(line.startswith(f"{name} ") for line in table), ran.stdout


def test_a_scenario_that_does_not_exist_is_refused() -> None:
    """An unknown name is an error that lists the names there are."""
    ran = bench("no-such-scenario")
    assert ran.returncode == 2
    assert "projection" in ran.stderr
