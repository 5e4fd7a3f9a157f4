"""Settings of SillyTavern that make it quick and quiet enough for tests."""

from copy import deepcopy
from typing import Any

# Extensions that come with it and are in no test's way, but take their time at every start of a page.
UNUSED = [
    *("expressions", "caption", "tts", "vectors", "stable-diffusion", "gallery", "translate", "assets", "memory"),
    *("quick-reply", "token-counter", "attachments"),
]

# The server's configuration; what is missing has SillyTavern's default. Nothing is fetched from anywhere.
SERVER: dict[str, Any] = {
    "thumbnails": {"enabled": False},
    "backups": {"chat": {"enabled": False}},
    "performance": {"useDiskCache": False},
    "extensions": {"autoUpdate": False, "models": {"autoDownload": False}},
    "enableDownloadableTokenizers": False,
    "whitelistDockerHosts": False,
    "logging": {"enableAccessLog": False},
}


def configured(shipped: dict[str, Any], *, model: str, stream: bool) -> dict[str, Any]:
    """SillyTavern's own settings for a new user, talking to an OpenAI-like model at the address `model`."""
    settings = deepcopy(shipped)
    settings.update({"firstRun": False, "main_api": "openai", "username": "User"})
    settings["oai_settings"].update(
        {
            "chat_completion_source": "custom",
            "custom_url": f"{model}/v1",
            "custom_model": "fake-small",
            "openai_model": "fake-small",
            "stream_openai": stream,
            "max_context_unlocked": True,
            "openai_max_context": 32_000,
            "openai_max_tokens": 300,
        }
    )
    settings["power_user"].update(
        {
            "auto_connect": True,
            "reduced_motion": True,
            "fast_ui_mode": True,
            "hideChatAvatars_enabled": True,
            "auto_load_chat": False,
            "confirm_message_delete": False,
            "streaming_fps": 100,
            "smooth_streaming": False,
            "console_log_prompts": False,
        }
    )
    settings["extension_settings"]["disabledExtensions"] = list(UNUSED)
    return settings
