"""Several chats with a summary buffer on one connection: a dead model costs little, and a busy one is no dead one."""

from pathlib import Path

from tests.support.buffer import BufferChat, buffering, codes
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import hang
from tests.support.service import Service


def due(service: Service, model: FakeModel, name: str, **settings: object) -> BufferChat:
    """A chat whose fold is due."""
    chat = BufferChat(service, model, name, expose_error_output=True, **settings)
    chat.say(*range(1, 11))
    return chat


def test_a_dead_model_is_left_alone_by_all_chats(tmp_path: Path) -> None:
    """Three folds that took too long, of whatever chats, stop the calls: the next chat is warned without waiting."""
    with buffering(tmp_path) as (service, model), model.only(hang()):
        for name in ("a", "b", "c"):
            assert codes(due(service, model, name, timeout_s=0.3).ask()) == ["fold_failed"]
        last = due(service, model, "d", timeout_s=30)
        prompt = last.ask()
        assert "is left alone until" in prompt["error"]["detail"]
        assert (prompt["skipped"]["reason"], len(last.calls)) == ("model_error", 0)
        assert service.status("d")["connection"]["state"] == "cooling_down"


def test_a_busy_model_is_not_to_blame(tmp_path: Path) -> None:
    """A fold that only waited behind another chat's call says so; the connection is fine, and answers wait again."""
    with buffering(tmp_path) as (service, model):
        wire = {"provider": "openai", "base_url": model.base_url, "model": "scripted", "concurrency": 1}
        service.put("/connections/single", wire)
        single = {"llm_source": "external", "connection": "single"}
        first, second = due(service, model, "a", **single), due(service, model, "b", timeout_s=0.3, **single)
        model.hold()
        with first.asking() as [asked]:
            first.called()
            for _ in range(4):
                prompt = second.ask()
                assert codes(prompt) == ["fold_failed"]
                assert "behind other calls to connection 'single'" in prompt["error"]["detail"]
                assert (prompt["error"]["connection"], prompt["error"]["code"]) == ("", "cancelled")
            assert service.status("b")["connection"]["state"] == "ok"
            model.release()
        assert codes(asked.result()) == []
        second.change(timeout_s=30)
        assert (codes(second.ask()), second.counts()) == ([], (14, 6))
