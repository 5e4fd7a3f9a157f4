"""When a SillyTavern message was sent. Four ways of writing it are in use; none names a time zone but ISO 8601."""

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Seconds reach this in the year 5138, milliseconds did in 1973.
_LEAST_MILLISECONDS = 1e11
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,20})?", re.ASCII)
_SPOKEN = re.compile(
    r"([A-Za-z]{3})[a-z]*\.? (\d{1,2}), (\d{4}),? (\d{1,2}):(\d{2})(?::(\d{2}))? ?([AaPp])[Mm]", re.ASCII
)
_FILE_NAME = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@ ?(\d{1,2})h ?(\d{1,2})m(?: ?(\d{1,2})s)?(?: ?(\d{1,3})ms)?", re.ASCII
)


def parse_send_date(value: object) -> datetime | None:
    """A `send_date` in UTC; None if it is absent or unreadable.

    Reads epoch seconds or milliseconds (number or string), "April 26, 2024 6:06am", "2024-04-26 @06h 06m 12s 123ms"
    and ISO 8601. Local times are taken as UTC: the file does not say where it was written.
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _from_epoch(value)
        return _from_text(value.strip()) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None


def _from_epoch(number: float) -> datetime:
    unit = "milliseconds" if abs(number) >= _LEAST_MILLISECONDS else "seconds"
    return _EPOCH + timedelta(**{unit: number})


def _from_text(text: str) -> datetime:
    if match := _SPOKEN.fullmatch(text):
        return _from_spoken(match)
    if match := _FILE_NAME.fullmatch(text):
        year, month, day, hour, minute, second, millisecond = (int(group or 0) for group in match.groups())
        return datetime(year, month, day, hour, minute, second, millisecond * 1000, UTC)
    if _NUMBER.fullmatch(text):
        return _from_epoch(float(text) if "." in text else int(text))
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _from_spoken(match: re.Match[str]) -> datetime:
    name, day, year, hour, minute, second, half = match.groups()
    month = _MONTHS.index(name.lower()) + 1
    if not 1 <= int(hour) <= 12:
        raise ValueError("no hour of a twelve-hour clock")
    hours = int(hour) % 12 + (12 if half in "pP" else 0)
    return datetime(int(year), month, int(day), hours, int(minute), int(second or 0), tzinfo=UTC)
