"""A machine with one database, on which tests start processes."""

from contextlib import AsyncExitStack
from pathlib import Path

from tests.support.processes import Process, living


class Machine:
    """Starts processes at one database and stops them in the end."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self.url = f"sqlite:///{folder / 'turnfold.db'}"
        self._stack = stack

    async def process(self, *, resume_jobs: bool = True) -> Process:
        return await self._stack.enter_async_context(living(Process(self.url, resume_jobs=resume_jobs)))
