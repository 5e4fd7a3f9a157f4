"""If-Match: change something only if it is still as it was read."""

from app.errors import PreconditionFailed


def etag(revision: int) -> str:
    """The strong tag of a revision."""
    return f'"{revision}"'


def check_etag(what: str, revision: int | None, if_match: str | None) -> None:
    """RFC 9110, If-Match: a list of strong tags, or `*` for whatever exists; `revision` is None for what does not.

    Raises PreconditionFailed. `what`: a chat, a snippet.
    """
    if if_match is None:
        return
    wanted = {tag.strip() for tag in if_match.split(",")}
    if revision is None or not wanted & {"*", etag(revision)}:
        raise PreconditionFailed(f"The {what} is not as it was read; GET it again, then repeat the change.")
