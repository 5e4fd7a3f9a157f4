"""The scripted model itself: what it leaves behind would fail another test, long after."""

import gc
import socket
import warnings

from tests.support.fake_model import FakeModel


def test_a_connection_that_has_just_come_is_closed_with_the_server() -> None:
    """A race, which without care is lost nearly every time."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(20):
            with FakeModel() as model:
                clients = [socket.create_connection(("127.0.0.1", model.port)) for _ in range(3)]
            for client in clients:
                client.close()
        gc.collect()
    assert [str(warning.message) for warning in found] == []
