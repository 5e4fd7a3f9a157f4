"""The settings that chats follow."""

from app.api.dependencies import ServicesDep
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.settings import ServerSettings, SettingsValues
from app.services.keeping import SettingsView

router = new_router("settings")


@router.get(
    "/settings",
    response_model=ServerSettings,
    summary="Read the server's settings",
    description="What is in force for chats that set nothing themselves.",
)
def read_settings(services: ServicesDep) -> ServerSettings:
    return _shown(services.keeping.settings())


@router.patch(
    "/settings",
    response_model=ServerSettings,
    summary="Merge into the server's settings",
    description="Absent settings stay; null returns one to its default.",
    responses=problem_docs(413, 415, 422),
)
def patch_settings(body: SettingsValues, services: ServicesDep) -> ServerSettings:
    return _shown(services.keeping.patch_settings(body.model_dump(exclude_unset=True)))


def _shown(view: SettingsView) -> ServerSettings:
    return ServerSettings.model_validate({**view.effective_settings, "settings": view.settings})
