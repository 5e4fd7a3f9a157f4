"""API keys at rest: encrypted with TURNFOLD_SECRET_KEY, or with a key file beside the database."""

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from cryptography.fernet import Fernet, InvalidToken

from app.errors import InvalidRequest
from app.store.keyfile import KeyFile

_UNREADABLE = (
    "A stored API key cannot be read: TURNFOLD_SECRET_KEY or the key file has changed."
    " Restore it, or PUT the connection again with its api_key."
)


@dataclass(frozen=True, slots=True)
class Vault:
    """Encrypts and decrypts API keys. `read` gives the secret or None, `make` the same and makes one if there is none.

    The secret is fetched anew for every key: what another process made meanwhile holds here too.
    """

    read: Callable[[], bytes | None]
    make: Callable[[], bytes]

    def lock(self, api_key: str) -> str:
        """The key as it may be stored. Raises InvalidRequest when there is no secret and none can be made."""
        return _fernet(self.make()).encrypt(api_key.encode()).decode()

    def unlock(self, stored: str) -> str:
        """The key as it is sent. Raises InvalidRequest when it was stored under another secret."""
        secret = self.read()
        if secret is None:
            raise InvalidRequest(_UNREADABLE)
        try:
            return _fernet(secret).decrypt(stored.encode()).decode()
        except InvalidToken:
            raise InvalidRequest(_UNREADABLE) from None


def open_vault(secret: str | None, database_file: Path | None) -> Vault:
    """The vault for a database: by the given secret, else by a key file beside it, which the first stored key makes.

    With neither, as for a database that is no file, keys are refused: under a secret that ends with the process none
    could be read again.
    """
    if secret:
        fixed = secret.encode()
        return Vault(lambda: fixed, lambda: fixed)
    if database_file is None:
        return Vault(lambda: None, _refuse)
    file = KeyFile(database_file.with_name(database_file.name + ".key"))
    return Vault(file.read, file.make)


def _refuse() -> NoReturn:
    raise InvalidRequest("Set TURNFOLD_SECRET_KEY, which API keys are encrypted with; then store this one again.")


def _fernet(secret: bytes) -> Fernet:
    # Fernet wants 32 bytes in base64; a person's secret may be any text.
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(secret).digest()))
