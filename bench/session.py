"""What the scenarios share: the scale, a folder, and folded chats, each made once."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.chats import build
from bench.processes import NO_SETTINGS, Remote, turnfold
from bench.scale import Scale


@dataclass
class Session:
    """One run of the benchmarks."""

    scale: Scale
    folder: Path
    _made: dict[tuple[int, ...], Path] = field(default_factory=dict)

    @property
    def grown(self) -> tuple[int, ...]:
        """The chats of the scenarios that compare long with short ones."""
        return (self.scale.tiny, self.scale.small, self.scale.large)

    def database(self, name: str, sizes: tuple[int, ...] = ()) -> Path:
        """A database of its own with a folded chat of each size."""
        copy = self.folder / f"{name}.db"
        with closing(sqlite3.connect(self._original(sizes))) as made, closing(sqlite3.connect(copy)) as ours:
            made.backup(ours)  # the file alone may lack what still stands in its write-ahead log
        return copy

    @contextmanager
    def serve(
        self, name: str, sizes: tuple[int, ...] = (), settings: Mapping[str, str] = NO_SETTINGS
    ) -> Iterator[Remote]:
        """A server on such a database, with settings by their names in the environment."""
        with turnfold(self.database(name, sizes), settings) as remote:
            yield remote

    def _original(self, sizes: tuple[int, ...]) -> Path:
        if sizes not in self._made:
            path = self.folder / f"made-{'-'.join(map(str, sizes)) or 'empty'}.db"
            build(path, sizes)
            self._made[sizes] = path
        return self._made[sizes]
