"""A file with a secret in it: there whole or not at all, whoever makes it at the same moment, and never replaced."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cryptography.fernet import Fernet

from app.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A secret that is made once, in a file only its owner can read (mode 0600)."""

    path: Path

    def read(self) -> bytes | None:
        """The secret; None while there is no file. Raises InvalidRequest for a file that is empty or unreadable."""
        try:
            secret = self.path.read_bytes().strip()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InvalidRequest(f"{self._named} cannot be read: {error.strerror}. {_ADVICE}") from None
        if not secret:
            raise InvalidRequest(f"{self._named} is empty. {_ADVICE}")
        return secret

    def make(self) -> bytes:
        """The secret, made now if there is none. Raises InvalidRequest as `read` does, and where none can be made."""
        secret = self.read()
        if secret is not None:
            return secret
        try:
            self._write(Fernet.generate_key())
        except OSError as error:
            raise InvalidRequest(
                f"{self._named} cannot be written: {error.strerror}. Mend that, or set TURNFOLD_SECRET_KEY."
            ) from None
        secret = self.read()  # another process may have been first
        assert secret is not None  # it was written a moment ago
        return secret

    @property
    def _named(self) -> str:
        return f"The key file {self.path.name} beside the database"

    def _write(self, secret: bytes) -> None:
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f"{self.path.name}.")  # with mode 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secret)
                file.flush()
                os.fsync(file.fileno())
            _publish(Path(name), self.path)
        finally:
            Path(name).unlink(missing_ok=True)


_ADVICE = "Restore it from a backup, delete it to begin with a new one, or set TURNFOLD_SECRET_KEY."


def _publish(whole: Path, target: Path) -> None:
    """Give a finished file its name, unless another has it already."""
    try:
        os.link(whole, target)
    except FileExistsError:
        return
    except OSError:
        # Some file systems have no hard links (FAT, Android). Keys are stored under the database's write lock, so
        # nobody else makes the file between these two.
        if not target.exists():
            whole.rename(target)
