"""What slash commands say to a person: how things stand, and what happens next."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from app.core.facts import count
from app.core.model import Strategy
from app.services.repairing import Repaired
from app.services.reporting import BacklogView, ConnectionStatus, LayerView, Status, WaitingView
from app.services.steering import Cleared, Started, Stopped
from app.services.working import JobView

CHOICES: Mapping[str, str] = {
    "all": "fold everything outside the window now",
    "one": "fold one batch now, then one more with every reply",
    "skip": "leave these turns as they are; nothing is hidden",
}

_HOURS = timedelta(hours=12)

_IDLE = {
    "strategy_none": "This chat keeps no memory: its strategy is none. Nothing folds.",
    "disabled": "The memory of this chat is disabled. Nothing folds until it is enabled.",
    "nothing_to_fold": "Nothing to do: no turn outside the window waits to be folded.",
}
_DUE: Mapping[Strategy, str] = {
    Strategy.ROLLING: "They fold after a reply once enough wait; /sc-summarize folds them now.",
    Strategy.SUMMARY_BUFFER: "They fold before an answer once enough messages wait; /sc-summarize folds them now.",
}
_NO_CHOICE = "There is nothing to choose: one summary takes them all up in time."
_PAUSED = "The chat is paused: when this is done nothing more folds by itself until /sc-resume."


def status_text(status: Status) -> str:
    """All of it in a few lines, most wanted first."""
    counts = status.counts
    newest = f"message {status.summarized_through.index}" if status.summarized_through else "nothing yet"
    lines = [
        f"Memory: {status.strategy}, version {status.memory_version}{_switches(status)}",
        f"Messages: {counts.messages} ({counts.visible} visible, {counts.ghosted} ghosted, {counts.hidden} hidden)",
        f"Summarized through: {newest}",
    ]
    lines += [_layer(layer, status) for layer in status.layers if layer.snippets]
    if status.compression:
        lines.append(f"Compression: {status.compression}:1 ({status.memory_tokens} tokens of memory)")
    lines += [*_work(status), *_waiting(status)]
    if counts.skipped:
        lines.append(f"Skipped: {count(counts.skipped, 'turn')}; /sc-backlog all folds them after all.")
    lines.append(f"Summarizer: {status.connection.name} ({status.connection.provider}), {_health(status.connection)}")
    return "\n".join([*lines, *_trouble(status)])


def choices_text(status: Status) -> str:
    """What a backlog would cost, and what may be done with it."""
    backlog, skipped = status.backlog, status.counts.skipped
    if status.strategy == "none" or not status.enabled:
        return _IDLE["disabled" if status.strategy != "none" else "strategy_none"]
    lines = list(_work(status))
    if backlog.turns and _rewrites(status):
        return "\n".join([*lines, *_waiting(status), *_cost(backlog, status.connection), _NO_CHOICE])
    if backlog.turns:
        lines += [_size(backlog), *_cost(backlog, status.connection)]
    if skipped:
        lines.append(f"{count(skipped, 'turn')} skipped before; /sc-backlog all takes them up.")
    if not (backlog.turns or skipped):
        return "\n".join([*lines, _IDLE["nothing_to_fold"]])
    return "\n".join([*lines, "Choose:", *(f"/sc-backlog {name}: {means}" for name, means in CHOICES.items())])


def started_text(started: Started, status: Status, choice: str) -> str:
    """What a start set going; `choice`: all, one or summarize."""
    job = started.job
    if job is None:
        return _IDLE.get(started.reason or "", f"Nothing to do: {started.reason}.")
    lines = [_joined(job) if job.state == "running" else _begun(job, status, choice)]
    lines += _trouble(status)
    if status.paused:
        lines.append(_PAUSED)
    return "\n".join(lines)


def skipped_text(turns: int, status: Status) -> str:
    """What became of the turns of a backlog."""
    if turns:
        stay = "1 turn stays as it is" if turns == 1 else f"{turns} turns stay as they are"
        return f"{stay}: nothing is hidden, and nothing of it folds unasked. /sc-backlog all folds it after all."
    if status.backlog.turns:
        over = "waiting" if _rewrites(status) else "over the window"
        return f"There is no backlog to skip: {count(status.backlog.turns, 'turn')} {over} will fold as usual."
    return "There is no backlog to skip."


def stopped_text(stopped: Stopped, status: Status) -> str:
    """What was cut, and when it goes on."""
    if stopped.job is None:
        return f"Nothing was running. {_later(status)}"
    progress = stopped.job.progress
    return f"Stopped after {progress.done} of {_batches(progress.total)}; what is folded stays. {_later(status)}"


def _later(status: Status) -> str:
    """What ends a stop."""
    if status.paused or status.backlog.choice_needed:
        return "Nothing folds until /sc-backlog, /sc-summarize or /sc-resume."
    return "The next message goes on, or /sc-backlog, /sc-summarize or /sc-resume does; /sc-pause keeps it from that."


def paused_text(status: Status) -> str:
    """What a pause holds up."""
    over = "" if _rewrites(status) else " over the window"
    waits = f" {count(status.backlog.turns, 'turn')}{over} wait." if status.backlog.turns else ""
    return f"Folding is paused: nothing folds by itself until /sc-resume; the memory is still sent.{waits}"


def resumed_text(status: Status) -> str:
    """What goes on now."""
    if status.job is not None:
        return "\n".join(["Folding goes on.", *_work(status), *_trouble(status)])
    if status.backlog.choice_needed:
        return "\n".join(["Folding goes on by itself once you have chosen.", choices_text(status)])
    return "Folding goes on by itself; nothing is due now."


def cleared_text(cleared: Cleared) -> str:
    """What was forgotten."""
    gone, visible = cleared.cleared_snippets, cleared.unghosted_messages
    if not gone:
        return "There was nothing to forget."
    return (
        f"Forgot {count(gone, 'snippet')}; {count(visible, 'message')} visible again. Nothing is lost."
        " The next message folds from the beginning; /sc-pause keeps it from that."
    )


def repaired_text(found: Sequence[Repaired]) -> str:
    """What a look or a repair found, a line each."""
    if not found:
        return "Nothing is wrong."
    lines = [f"{finding.detail} ({'put right' if finding.fixed else finding.code})" for finding in found]
    fixed = any(finding.fixed for finding in found)
    return "\n".join([*lines, *([] if fixed else ["/sc-repair now puts right what has one right fix."])])


def pinned_text(index: int, *, pinned: bool) -> str:
    """What a pin does."""
    if pinned:
        return f"Message {index} is pinned: it is never folded, and always sent. /sc-pin {index} off takes that back."
    return f"Message {index} is no longer pinned: it folds as any other."


def waiting_text(waiting: WaitingView) -> str:
    """What a frontend is asked, and whether it is there."""
    if not waiting.leased:
        return f"Waiting for {waiting.connection}: {count(waiting.calls, 'prompt')} since {waiting.since:%H:%M} UTC"
    return f"{waiting.connection} is answering: {waiting.leased} of {count(waiting.calls, 'prompt')}"


def spoken(seconds: float) -> str:
    """A length of time as one says it: `45 seconds`, `12 minutes`, `2 hours 5 minutes`."""
    if seconds < 90:
        return count(round(seconds), "second")
    hours, minutes = divmod(round(seconds / 60), 60)
    return " ".join([count(hours, "hour"), count(minutes, "minute")] if hours else [count(minutes, "minute")])


def _begun(job: JobView, status: Status, choice: str) -> str:
    calls = status.backlog.estimated_calls
    about = f" with about {count(calls, 'call')}" if choice == "all" and calls and not _is_free(status) else ""
    end = "/sc-status shows how far it is, /sc-stop ends it; what is folded stays."
    if choice == "one":
        more = ", then one more with every reply until the backlog is gone" if status.backlog.batches > 1 else ""
        return f"Folding one batch now{more}. {end}"
    return f"Folding {_batches(job.progress.total)}{about}. {end}"


def _joined(job: JobView) -> str:
    return f"A job is at work already and does this too. {_progress(job)}. /sc-stop ends it; what is folded stays."


def _rewrites(status: Status) -> bool:
    return Strategy(status.strategy).rewrites


def _layer(layer: LayerView, status: Status) -> str:
    if _rewrites(status):
        return f"Summary: one, over {count(layer.turns, 'turn')}"
    return f"Layer {layer.layer}: {count(layer.snippets, 'snippet')} over {count(layer.turns, 'turn')}"


def _work(status: Status) -> Iterable[str]:
    waiting = status.connection.waiting
    return [*([_progress(status.job)] if status.job else []), *([waiting_text(waiting)] if waiting else [])]


def _progress(job: JobView) -> str:
    """How far a job is: percent and time left, and what failed."""
    if job.state == "queued":
        return f"Folding: {_batches(job.progress.total)}, about to begin"
    progress = job.progress
    parts = [f"Folding: {progress.done} of {_batches(progress.total)} ({progress.percent} %)"]
    parts += [f"{progress.failed} failed"] if progress.failed else []
    parts += [f"about {spoken(progress.eta_s)} left"] if progress.eta_s is not None else []
    return ", ".join(parts)


def _waiting(status: Status) -> Iterable[str]:
    backlog = status.backlog
    if not backlog.turns:
        return []
    if _rewrites(status):
        return [f"Waiting: {count(backlog.turns, 'turn')}. {_DUE[Strategy(status.strategy)]}"]
    if not backlog.choice_needed:
        return [f"Waiting: {_size(backlog)}"]
    ask = "An old chat: choose /sc-backlog all, one or skip."
    return [f"Waiting: {_size(backlog)}", *_cost(backlog, status.connection), ask]


def _size(backlog: BacklogView) -> str:
    return (
        f"{backlog.turns:,} {'turn' if backlog.turns == 1 else 'turns'} over the window, {_batches(backlog.batches)}."
    )


def _cost(backlog: BacklogView, connection: ConnectionStatus) -> Iterable[str]:
    if not backlog.estimated_calls:
        return []
    time = f", about {spoken(backlog.estimated_s)}" if backlog.estimated_s is not None else ""
    if connection.provider == "extractive":
        return [f"The built-in summarizer folds them: no model is called, and it costs nothing{time}."]
    called = connection.model or connection.name
    return [
        f"To fold them all takes about {backlog.estimated_calls:,} calls to {called}"
        f" with {backlog.estimated_input_tokens:,} input tokens{time}."
    ]


def _batches(number: int) -> str:
    return f"{number:,} {'batch' if number == 1 else 'batches'}"


def _is_free(status: Status) -> bool:
    return status.connection.provider == "extractive"


def _health(connection: ConnectionStatus) -> str:
    retry = f" until {_moment(connection.retry_at)}" if connection.retry_at else ""
    return f"{connection.state.replace('_', ' ')}{retry}"


def _trouble(status: Status) -> Iterable[str]:
    error = status.last_error
    if error is None:
        return []
    again = f" Tried again at {_moment(error.retry_at)}." if error.retry_at else ""
    return [f"Last error: {error.detail}{again}"]


def _switches(status: Status) -> str:
    switches = {"disabled": not status.enabled, "paused": status.paused}
    named = [name for name, on in switches.items() if on]
    return f" ({', '.join(named)})" if named else ""


def _moment(moment: datetime) -> str:
    """The time, and the day if it is none of the next hours."""
    day = f"{moment:%Y-%m-%d} " if abs(moment - datetime.now(UTC)) > _HOURS else ""
    return f"{day}{moment:%H:%M:%S} UTC"
