"""The environment's settings, prefix TURNFOLD_. `.env.example` lists them all."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


def _comma_separated(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


CommaSeparated = Annotated[list[str], NoDecode, BeforeValidator(_comma_separated)]


class Settings(BaseSettings):
    """Times in seconds, sizes in MiB."""

    model_config = SettingsConfigDict(
        env_prefix="TURNFOLD_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    # Where the service listens and who may call it
    host: str = "127.0.0.1"
    port: int = Field(8787, ge=0, le=65535)
    api_key: SecretStr | None = None
    cors_origins: CommaSeparated = ["http://127.0.0.1:8000", "http://localhost:8000"]
    allowed_hosts: CommaSeparated | None = None
    max_body_mb: float = Field(16, gt=0)
    import_max_mb: float = Field(1024, gt=0)

    # Where chats are kept
    database_url: str = "sqlite:///turnfold.db"
    secret_key: SecretStr | None = None

    # The connection named "default"
    llm_provider: Literal["extractive", "openai", "ollama"] = "extractive"
    llm_base_url: str | None = None
    llm_api_key: SecretStr | None = None
    llm_model: str | None = None
    llm_context_size: int | None = Field(None, ge=256)
    llm_concurrency: int = Field(4, ge=1)
    llm_timeout_s: float = Field(120, gt=0)

    # How often and how long a failing model is asked again
    retry_attempts: int = Field(6, ge=1)
    retry_base_s: float = Field(2, gt=0)
    retry_max_s: float = Field(60, gt=0)
    breaker_cooldown_s: float = Field(60, gt=0)
    resume_jobs: bool = True

    # How much one job may do before it waits for the next message or call
    job_max_calls: int = Field(20_000, ge=1)
    job_max_s: float = Field(86_400, gt=0)

    # The chat proxy
    upstream_base_url: str | None = None
    upstream_api_key: SecretStr | None = None

    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @property
    def hosts(self) -> list[str]:
        """The Host headers that are answered: ALLOWED_HOSTS, or the loopback names and HOST."""
        loopback = ["127.0.0.1", "localhost", "[::1]", self.host]
        return self.allowed_hosts if self.allowed_hosts is not None else loopback
