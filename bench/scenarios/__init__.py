"""All scenarios, by the name they are chosen with."""

from collections.abc import Callable, Mapping

from bench.figures import Figure
from bench.scenarios.appending import appending
from bench.scenarios.backlog import backlog
from bench.scenarios.busy import busy
from bench.scenarios.folding import folding
from bench.scenarios.importing import importing
from bench.scenarios.markers import markers
from bench.scenarios.memory import memory_size, prefix
from bench.scenarios.projection import against_bare, against_short
from bench.scenarios.resident import resident
from bench.session import Session

SCENARIOS: Mapping[str, Callable[[Session], list[Figure]]] = {
    "projection": against_bare,
    "growth": against_short,
    "append": appending,
    "import": importing,
    "folding": folding,
    "backlog": backlog,
    "busy": busy,
    "markers": markers,
    "prefix": prefix,
    "memory": memory_size,
    "resident": resident,
}
