"""What can be seen of a connection between two attempts."""

from datetime import timedelta

from app.core.health import Health
from app.core.retry import RetryPolicy
from app.core.summary import Connection, SummaryRequest
from app.llm.caller import Caller
from app.llm.http import new_client
from tests.support import fake_replies as replies
from tests.support.fake_model import FakeModel
from tests.support.fake_time import FakeTime


async def test_a_failed_attempt_shows_before_the_next() -> None:
    """From the first failed attempt on the connection is failing, with the time of the next; an answer ends that."""
    time = FakeTime()
    seen: list[Health] = []

    async def sleep(seconds: float) -> None:
        seen.append(patient.health("default"))
        await time.sleep(seconds)

    with FakeModel() as model:
        async with new_client() as client:
            patient = Caller(
                client=client,
                count=len,
                extract=lambda request: request.user,
                policy=RetryPolicy(),
                cooldown_s=60,
                clock=time.now,
                sleep=sleep,
                random=lambda: 0.0,
            )
            started = time.now()
            model.do(replies.status(503))
            called = Connection("default", "openai", model.base_url, "fake-small", timeout_s=5)
            await patient.summarize(SummaryRequest("fold", called, "System.", "User.", (), (), 100, 1000))
    assert seen == [Health("failing", started + timedelta(seconds=2), None)]
    assert patient.health("default") == Health("ok")
