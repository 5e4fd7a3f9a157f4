"""A repository with a branch that SillyTavern can install the extension from, made by scripts/sillytavern-extension.

It holds what the script takes and no more: a branch of the project's own checkout would stay there.
"""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Checkout:
    """A checkout of the parts of the project that the extension is made of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in ("static/sillytavern", "scripts"):
            shutil.copytree(ROOT / part, folder / part)
        for part in ("static/turnfold.js", "LICENSE"):
            shutil.copy(ROOT / part, folder / part)
        self.git("init", "--quiet", "--initial-branch=main")
        for name, value in (("user.name", "A test"), ("user.email", "test@example.org")):
            self.git("config", name, value)
        self.commit("All of it")

    def git(self, *words: str) -> str:
        """What git says to this."""
        done = subprocess.run(["git", "-C", self.folder, *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, why: str) -> None:
        """Everything in the folder, as it is now."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", why)

    def pack(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run scripts/sillytavern-extension."""
        script = self.folder / "scripts" / "sillytavern-extension"
        return subprocess.run([script, *words], capture_output=True, text=True, check=False)

    def publish(self, bare: Path, branch: str) -> None:
        """Bring the branch up to date and push it, alone, to a bare repository that is made if need be."""
        assert (done := self.pack("--branch", branch)).returncode == 0, done.stderr
        if not bare.exists():
            subprocess.run(["git", "init", "--quiet", "--bare", f"--initial-branch={branch}", bare], check=True)
        self.git("push", "--quiet", str(bare), branch)
