"""API keys at rest: encrypted with TURNFOLD_SECRET_KEY, or with a key file beside the database."""

import base64
import hashlib
import os
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken

from app.errors import InvalidRequest


class Vault:
    """Encrypts and decrypts API keys."""

    def __init__(self, secret: bytes) -> None:
        # Fernet wants 32 bytes in base64; a person's secret may be any text.
        self._fernet = Fernet(base64.urlsafe_b64encode(hashlib.sha256(secret).digest()))

    def lock(self, api_key: str) -> str:
        """The key as it may be stored."""
        return self._fernet.encrypt(api_key.encode()).decode()

    def unlock(self, stored: str) -> str:
        """The key as it is sent. Raises InvalidRequest when it was stored under another secret."""
        try:
            return self._fernet.decrypt(stored.encode()).decode()
        except InvalidToken:
            raise InvalidRequest(
                "A stored API key cannot be read: TURNFOLD_SECRET_KEY or the key file has changed."
                " Restore it, or PUT the connection again with its api_key."
            ) from None


def open_vault(secret: str | None, database_file: Path | None) -> Vault:
    """The vault for a database: by the given secret, else by a key file beside it, made with mode 0600 if absent."""
    if secret:
        return Vault(secret.encode())
    if database_file is None:
        return Vault(os.urandom(32))
    key_file = database_file.with_name(database_file.name + ".key")
    return Vault(_read_or_make(key_file))


def _read_or_make(key_file: Path) -> bytes:
    try:
        descriptor = os.open(key_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return key_file.read_bytes()
    with os.fdopen(descriptor, "wb") as file:
        secret = Fernet.generate_key()
        file.write(secret)
    return secret
