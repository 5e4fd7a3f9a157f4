"""Choosing the parts of a server: which database, which summarizer, which runner. The one place that knows them all."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import httpx

from app.core.retry import RetryPolicy
from app.core.summary import Summarizer
from app.jobs.runner import BEAT_S, Runner
from app.jobs.threads import Patience, Threads
from app.llm.caller import Caller
from app.llm.client import Frontends
from app.llm.extractive import Extractive
from app.llm.http import new_client
from app.llm.tokens import Counters, TokenCounter
from app.resources import resource_dir
from app.services.answering import Answering
from app.services.asking import Asking
from app.services.bells import Bells
from app.services.blocks import Blocks
from app.services.branching import Branching
from app.services.browsing import Browsing
from app.services.budgeting import Budgeting
from app.services.bundle import Services
from app.services.checkup import Checkup
from app.services.client_calls import ClientCalls
from app.services.commands import Commands
from app.services.connections import Connections
from app.services.counters import ChatCounters
from app.services.diagnosing import Diagnosing
from app.services.digesting import Digesting
from app.services.drawing import Drawing
from app.services.editing import Editing
from app.services.estimating import Estimating
from app.services.exporting import Exporting
from app.services.failing import Failing
from app.services.faring import Faring
from app.services.figures import Figures
from app.services.folding import Folding, Limits
from app.services.foreseeing import Foreseeing
from app.services.fronting import Fronting
from app.services.importing import Importing
from app.services.keeping import Keeping
from app.services.lookout import Lookout
from app.services.momentary import Momentary
from app.services.picking import Picking
from app.services.picturing import Picturing
from app.services.planning import Planning
from app.services.ports import Counter, ModelServers
from app.services.projecting import Projecting
from app.services.prompts import PromptLibrary
from app.services.readiness import Readying
from app.services.recording import Recording
from app.services.recovering import Recovering
from app.services.rehearsing import Rehearsing
from app.services.repairing import Repairing
from app.services.reporting import Reporting
from app.services.retelling import Retelling
from app.services.revising import Revising
from app.services.searching import Searching
from app.services.sessions import Sessions
from app.services.starting import Starting
from app.services.steering import Steering
from app.services.syncing import Syncing
from app.services.undoing import Undoing
from app.services.viewing import Viewing
from app.services.watching import Watching
from app.services.working import Working
from app.settings import Settings
from app.store.engine import Database, sqlite_file
from app.store.vault import open_vault


@dataclass(frozen=True)
class Server:
    """The parts that live as long as the process."""

    settings: Settings
    db: Database
    client: httpx.AsyncClient
    runner: Runner
    services: Services

    async def start(self) -> None:
        """Begin to run jobs."""
        await self.runner.start()

    async def stop(self) -> None:
        """End what is watched, cut jobs and close connections."""
        self.services.watching.close()
        self.services.client_calls.close()
        await self.runner.stop()
        await self.client.aclose()
        self.db.dispose()


class Models(Summarizer, ModelServers, Protocol):
    """What speaks to models."""


Sleep = Callable[[float], Awaitable[None]]


def assemble(
    settings: Settings,
    *,
    count: Counter | None = None,
    models: Models | None = None,
    through: Callable[[Models], Models] | None = None,
    sleep: Sleep = asyncio.sleep,
    beat_s: float = BEAT_S,
) -> Server:
    """Put a server together. Nothing runs and nothing is migrated yet.

    `count`, `models` and `sleep` take the place of the parts that are slow or speak to the outside; `through`
    puts something before what speaks to models; `beat_s` is how often work that was left is looked for.
    """
    db, client, count = Database(settings.database_url), new_client(), count or TokenCounter()
    secret = settings.secret_key.get_secret_value() if settings.secret_key else None
    bells = Bells()
    fronting = Fronting(db, Threads("turnfold-fronting", 2), bells)
    caller = models or _caller(settings, client, count, sleep, fronting)
    caller = through(caller) if through else caller
    connections = Connections(db, open_vault(secret, sqlite_file(settings.database_url)), settings, caller)
    families = Counters(count)
    counters = ChatCounters(db, connections, families)
    prompts = PromptLibrary(resource_dir("prompts"))
    patience = Patience(Threads("turnfold-folding", 4), sleep)
    planning = Planning(Asking(prompts, counters), Retelling(prompts, families), connections, counters)
    limits = Limits(settings.job_max_calls, settings.job_max_s)
    folding = Folding(db, planning, Failing(db), caller, limits, settings.breaker_cooldown_s, patience)
    runner = Runner(db, folding, Starting(db, settings.resume_jobs), beat_s)
    client_calls = ClientCalls(db, Threads("turnfold-client-calls", 4), bells)
    parts = _Parts(db, counters, connections, prompts, caller, runner, planning, settings, client_calls)
    return Server(settings, db, client, runner, _services(parts))


def _caller(
    settings: Settings, client: httpx.AsyncClient, count: Counter, sleep: Sleep, frontends: Frontends
) -> Caller:
    return Caller(
        client=client,
        count=count,
        extract=Extractive(count),
        policy=RetryPolicy(settings.retry_attempts, settings.retry_base_s, settings.retry_max_s),
        cooldown_s=settings.breaker_cooldown_s,
        clock=lambda: datetime.now(UTC),
        sleep=sleep,
        random=random.random,
        frontends=frontends,
    )


@dataclass(frozen=True)
class _Parts:
    """What the use cases are made of."""

    db: Database
    counters: ChatCounters
    connections: Connections
    prompts: PromptLibrary
    models: Models
    runner: Runner
    planning: Planning
    settings: Settings
    client_calls: ClientCalls


def _services(parts: _Parts) -> Services:
    db, runner, counters, connections = parts.db, parts.runner, parts.counters, parts.connections
    prompts, models = parts.prompts, parts.models
    blocks = Blocks(prompts, counters)
    steering = Steering(db, runner)
    reporting = Reporting(db, blocks, connections, models, Estimating(prompts, counters, connections))
    repairing = Repairing(db, runner)
    recording = Recording(db, counters, runner)
    editing = Editing(db, counters, runner)
    projecting = Projecting(db, Drawing(blocks, Budgeting(connections, counters)))
    return Services(
        keeping=Keeping(db, runner, connections),
        recording=recording,
        editing=editing,
        recovering=Recovering(db, counters, runner),
        syncing=Syncing(db, counters, runner),
        digesting=Digesting(db),
        branching=Branching(db),
        steering=steering,
        repairing=repairing,
        checkup=Checkup(db, repairing, connections.vault),
        reporting=reporting,
        browsing=Browsing(db),
        picturing=Picturing(db, Foreseeing(connections, parts.planning.retelling)),
        searching=Searching(db),
        projecting=projecting,
        answering=_answering(parts, projecting),
        sessions=Sessions(db, runner),
        rehearsing=_rehearsing(parts),
        figures=Figures(db),
        diagnosing=Diagnosing(db),
        viewing=Viewing(db),
        connections=connections,
        client_calls=parts.client_calls,
        revising=Revising(db, counters, runner),
        undoing=Undoing(db, runner),
        working=Working(db, runner),
        watching=_watching(db, models),
        importing=Importing(db, counters, runner),
        exporting=Exporting(db),
        commands=Commands(reporting, steering, Searching(db), repairing, recording, editing),
        prompts=prompts,
        health=Readying(db, models, lambda: runner.alive),
    )


def _answering(parts: _Parts, projecting: Projecting) -> Answering:
    db, models, cooldown_s = parts.db, parts.models, parts.settings.breaker_cooldown_s
    retelling, connections = parts.planning.retelling, parts.connections
    momentary = Momentary(db, retelling, connections, models, models, parts.counters, cooldown_s)
    return Answering(db, parts.runner, models, projecting, momentary, cooldown_s)


def _rehearsing(parts: _Parts) -> Rehearsing:
    picking = Picking(parts.planning.asking, parts.planning.retelling)
    return Rehearsing(parts.db, picking, parts.connections, parts.counters, parts.models, parts.models)


def _watching(db: Database, models: ModelServers) -> Watching:
    threads = Threads("turnfold-watching", 2)
    return Watching(db, Lookout(db, threads, first=Faring(db, models).tell), threads)
