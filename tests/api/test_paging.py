"""Cursors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.paging import MAX_CURSOR_CHARS, PageQuery, decode_cursor, encode_cursor
from app.errors import InvalidRequest

NUMBERS = st.integers(0, 2**63 - 1)


@given(st.tuples(NUMBERS, NUMBERS))
def test_a_cursor_leads_back_to_its_place(place: tuple[int, int]) -> None:
    """What is encoded is decoded again, and fits into a query."""
    cursor = encode_cursor("chats", place)
    assert decode_cursor("chats", cursor, 2) == place
    assert len(cursor) <= MAX_CURSOR_CHARS


@given(st.text(max_size=60))
def test_any_other_text_is_refused(text: str) -> None:
    """No text but a cursor gets through, and none breaks the decoder."""
    with pytest.raises(InvalidRequest):
        decode_cursor("chats", text, 1)


@pytest.mark.parametrize(
    "cursor",
    [
        encode_cursor("jobs", (1,)),
        encode_cursor("chats", (1, 2)),
        encode_cursor("chats", (2**63,)),
        encode_cursor("chats", (-1,)),
        encode_cursor("chats", (True,)),
    ],
)
def test_a_cursor_of_another_list_is_refused(cursor: str) -> None:
    """A cursor is good for the list that gave it out, with numbers a database holds."""
    with pytest.raises(InvalidRequest):
        decode_cursor("chats", cursor, 1)


@given(st.lists(st.integers(), max_size=30), st.integers(1, 10))
def test_following_cursors_reads_everything_once(items: list[int], limit: int) -> None:
    """Pages put together are the list, by place and by count alike."""
    numbered = list(enumerate(items))
    for counted in (False, True):
        read: list[int] = []
        query = PageQuery(limit)
        for _ in range(len(items) + 1):
            start = query.offset("x") if counted else (query.after("x") or (-1,))[0] + 1
            found = numbered[start : start + query.wanted]
            page = query.counted_page("x", found) if counted else query.page("x", found, lambda item: (item[0],))
            read += [value for _, value in page.items]
            query = PageQuery(limit, page.next_cursor)
            if page.next_cursor is None:
                break
        assert read == items
