"""Slash commands, for frontends that have a line to type in."""

from app.api.dependencies import ChatId, ServicesDep
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.commands import Command, CommandList, CommandResult
from app.services.commands import CommandResult as ResultView

router = new_router("commands")


@router.post(
    "/chats/{chat_id}/commands",
    response_model=CommandResult,
    summary="Run a slash command",
    description="`/sc-help` lists them; an unknown one is a 422.",
    responses=problem_docs(404, 409, 413, 415, 422),
)
async def run_command(chat_id: ChatId, body: Command, services: ServicesDep) -> ResultView:
    return await services.commands.run(chat_id, body.command)


@router.get(
    "/commands",
    response_model=CommandList,
    summary="List the slash commands",
    description="For frontends that complete what a person types; a new command needs no new frontend.",
)
def list_commands(services: ServicesDep) -> CommandList:
    return CommandList.model_validate({"items": services.commands.listed(), "next_cursor": None})
