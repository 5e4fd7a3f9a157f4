"""Time that passes for a database while nobody waits."""

from sqlalchemy import text

from app.store.engine import Database


def let_time_pass(db: Database, seconds: float = 200) -> None:
    """What a process held that is dead runs out: leases of jobs, claims on Idempotency-Keys. No test waits for that."""
    with db.write() as session:
        for earlier in (
            "UPDATE jobs SET lease_until = lease_until - :passed WHERE state = 'running'",
            "UPDATE stored_answers SET created_at = created_at - :passed WHERE status IS NULL",
        ):
            session.execute(text(earlier), {"passed": int(1000 * seconds)})
