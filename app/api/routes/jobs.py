"""Jobs: reading and cancelling them."""

from typing import Annotated

from fastapi import Query

from app.api.dependencies import NO_BODY, JobId, PageDep, ServicesDep
from app.api.paging import Paged
from app.api.problems import problem_docs
from app.api.routing import new_router
from app.api.schemas.jobs import Job, JobPage, JobState
from app.api.text import Id
from app.services.working import JobView

router = new_router("jobs")


@router.get(
    "/jobs",
    response_model=JobPage,
    summary="List jobs",
    description="Newest first.",
    responses=problem_docs(404, 422),
)
def list_jobs(
    services: ServicesDep,
    page: PageDep,
    chat_id: Annotated[Id | None, Query(description="Only of this chat.")] = None,
    state: Annotated[JobState | None, Query(description="Only in this state.")] = None,
) -> Paged[JobView]:
    before = page.after("jobs")
    found = services.working.page(chat_id, state, before[0] if before else None, page.wanted)
    paged = page.page("jobs", found, lambda placed: (placed[0],))
    return Paged([job for _, job in paged.items], paged.next_cursor)


@router.get(
    "/jobs/{job_id}",
    response_model=Job,
    summary="Read a job",
    description="`progress` counts batches.",
    responses=problem_docs(404, 422),
)
def read_job(job_id: JobId, services: ServicesDep) -> JobView:
    return services.working.get(job_id)


@router.post(
    "/jobs/{job_id}/cancel",
    response_model=Job,
    summary="Cancel a job",
    description="The call to the model is cut, finished batches stay. A job that has ended stays as it is.",
    dependencies=[NO_BODY],
    responses=problem_docs(404, 409, 413, 415, 422),
)
async def cancel_job(job_id: JobId, services: ServicesDep) -> JobView:
    return await services.working.cancel(job_id)
