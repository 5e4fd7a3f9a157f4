"""Times as the tables hold them: whole milliseconds since 1970, UTC."""

from datetime import UTC, datetime


def to_ms(moment: datetime) -> int:
    """Milliseconds of an aware datetime."""
    return round(moment.timestamp() * 1000)


def from_ms(milliseconds: int) -> datetime:
    """The aware datetime, UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def now_ms() -> int:
    """This moment."""
    return to_ms(datetime.now(UTC))
