"""HEAD wherever there is GET (RFC 9110, 9.3.2): the same answer without its content."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEAD = "turnfold.head"
"""In the scope of what was a HEAD, for what must not be done for it."""


class Heads:
    """Runs GET for HEAD and sends the headers alone; an answer that would never end, ends there."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        ended = False

        async def send_headers(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                await send(message)
            elif not ended:
                ended = True
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        async def listen() -> Message:
            return {"type": "http.disconnect"} if ended else await receive()

        await self.app({**scope, "method": "GET", HEAD: True}, listen, send_headers)
