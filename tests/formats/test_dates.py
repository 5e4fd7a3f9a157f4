"""app.formats.dates: the ways SillyTavern has written dates."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.dates import parse_send_date

# Hypothesis wants its bounds without a zone.
FIRST, LAST = (datetime(year, 1, 1, tzinfo=UTC).replace(tzinfo=None) for year in (1975, 2200))
MOMENTS = st.datetimes(FIRST, LAST, timezones=st.just(UTC))
EXAMPLE = datetime(2024, 4, 26, 6, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("April 26, 2024 6:06am", EXAMPLE),
        ("Apr 26, 2024 6:06 AM", EXAMPLE),
        ("April 26, 2024 12:06am", EXAMPLE.replace(hour=0)),
        ("April 26, 2024 12:06pm", EXAMPLE.replace(hour=12)),
        ("2024-04-26 @06h 06m 12s 123ms", EXAMPLE.replace(second=12, microsecond=123000)),
        ("2024-4-26@6h6m", EXAMPLE),
        ("2024-04-26T06:06:00.000Z", EXAMPLE),
        ("2024-04-26T08:06:00+02:00", EXAMPLE),
        ("2024-04-26 06:06", EXAMPLE),
        (1714111560, EXAMPLE),
        (1714111560000, EXAMPLE),
        (1714111560.0, EXAMPLE),
        ("1714111560000", EXAMPLE),
        (" 1714111560 ", EXAMPLE),
    ],
)
def test_every_way_of_writing_is_read(written: object, meant: datetime) -> None:
    """Each form that versions of SillyTavern have written gives the same moment."""
    assert parse_send_date(written) == meant


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        "",
        "yesterday",
        "April 31, 2024 6:06am",
        "April 26, 2024 13:06am",
        "Brumaire 1, 2024 1:00am",
        10**400,
        float("inf"),
        float("nan"),
        "9" * 20,
        "0001-01-01T00:00+14:00",
        [],
        {},
    ],
)
def test_the_unreadable_is_none(value: object) -> None:
    """What is absent or makes no sense is no date, and no error."""
    assert parse_send_date(value) is None


@given(moment=MOMENTS)
def test_iso_dates_come_back(moment: datetime) -> None:
    """A moment written as ISO 8601 is read as itself."""
    assert parse_send_date(moment.isoformat()) == moment


@given(moment=MOMENTS, hours=st.integers(-14, 14))
def test_zones_are_brought_to_utc(moment: datetime, hours: int) -> None:
    """A moment with another zone's offset is the same moment, told in UTC."""
    read = parse_send_date(moment.astimezone(timezone(timedelta(hours=hours))).isoformat())
    assert read is not None
    assert (read, read.tzinfo) == (moment, UTC)


@given(moment=MOMENTS)
def test_epoch_milliseconds_come_back(moment: datetime) -> None:
    """Whole milliseconds since 1970, as a number or as text, are read exactly."""
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    written = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert parse_send_date(written) == parse_send_date(str(written)) == moment


@given(moment=MOMENTS)
def test_spoken_dates_come_back(moment: datetime) -> None:
    """ "April 26, 2024 6:06am" keeps a moment to the minute."""
    moment = moment.replace(second=0, microsecond=0)
    half = "am" if moment.hour < 12 else "pm"
    written = f"{moment:%B} {moment.day}, {moment.year} {moment.hour % 12 or 12}:{moment:%M}{half}"
    assert parse_send_date(written) == moment


@given(moment=MOMENTS)
def test_file_name_dates_come_back(moment: datetime) -> None:
    """ "2024-04-26 @06h 06m 12s 123ms" keeps a moment to the millisecond."""
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    written = f"{moment:%Y-%m-%d @%Hh %Mm %Ss} {moment.microsecond // 1000}ms"
    assert parse_send_date(written) == moment


@given(value=st.one_of(st.text(), st.integers(), st.floats(), st.text("0123456789-:T@hms ,apm")))
def test_nothing_crashes_it(value: object) -> None:
    """Any value is a date in UTC or none."""
    read = parse_send_date(value)
    assert read is None or read.tzinfo is UTC
