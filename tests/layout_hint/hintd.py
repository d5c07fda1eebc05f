"""The helper's neighbours: a service, a device, and a service that misbehaves."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.layout_hint.device import LOAD, STATE_SIZE, STATUS, VERSION
from tests.layout_hint.device import Device as Connection

ROOT = Path(__file__).resolve().parents[2]
CRATE = ROOT / "layout_hint" / "hintd"
FRAME = "<II"
ASKED = {"mode": 0o644, "uid": 1, "gid": 1}


def eventually(holds: Callable[[], Any], what: str, seconds: float = 60) -> Any:
    """Wait until `holds`; return what it does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what}: not so after {seconds} s")


@dataclass
class Process:
    """A program that runs until it is ended; its output is in a file."""

    command: list[str]
    log: Path
    variables: dict[str, str] = field(default_factory=dict)
    running: subprocess.Popen[bytes] | None = None

    def start(self, ready: str = "") -> None:
        before = len(self.logged())
        with self.log.open("ab") as log:
            environment = os.environ | self.variables
            self.running = subprocess.Popen(
                self.command, cwd=ROOT, stdout=log, stderr=log, env=environment
            )
        if ready:
            eventually(lambda: self._over() or ready in self.logged()[before:], ready, 300)
            assert not self._over(), self.logged()

    def _over(self) -> bool:
        return self.running is None or self.running.poll() is not None

    def logged(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    def end(self, by: int = signal.SIGTERM) -> int:
        """End the process, if it runs; return its exit status."""
        if self.running is None:
            return 0
        running, self.running = self.running, None
        running.send_signal(by)
        try:
            return running.wait(30)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            raise


@dataclass
class Device(Process):
    """A device in user space."""

    path: Path = Path()

    def begin(self) -> None:
        """Start it, and wait until it listens."""
        self.start()

        def listens() -> bool:
            with socket.socket(socket.AF_UNIX) as probe:
                return probe.connect_ex(str(self.path)) == 0

        eventually(listens, "the device listens")

    def connection(self) -> Connection:
        return Connection(str(self.path))

    def state(self) -> dict[str, Any]:
        """Return what it says of itself."""
        with closing(self.connection()) as connection:
            return connection.status()

    def settings(self) -> tuple[int, int]:
        """Return its mode and policy."""
        mode, policy, *_ = self._config()
        return mode, policy

    def region(self) -> tuple[int, int, int, int]:
        """Return its region's mode, first byte, length and inodes, as it was set to them."""
        _, _, mode, start, length, inodes = self._config()
        return mode, start, length, inodes

    def _config(self) -> tuple[int, ...]:
        with closing(self.connection()) as connection:
            content = connection.frame(STATUS, struct.pack("<I", VERSION) + bytes(STATE_SIZE - 4))
        return struct.unpack_from("<3I2Q12xI", content, 36)

    def has(self, image: bytes) -> bool:
        """Whether it is this image that is loaded."""
        state = self.state()
        return bool((state["image_size"], state["image_checksum"]) == (len(image), checksum(image)))

    def ask(self, name: bytes) -> int:
        """Return the verdict on a create."""
        with closing(self.connection()) as connection:
            return connection.ask(name, **ASKED)


def checksum(image: bytes) -> int:
    """Return the checksum in an image's header."""
    return int(struct.unpack_from("<I", image, 16)[0])


@dataclass
class Helper(Process):
    """The helper; ``keeps`` is what it says stays when it ends."""

    keeps: str = "the device keeps its image"

    def counts(self) -> dict[str, int]:
        """End it as one should, and return what it counted."""
        assert self.end() == 0, self.logged()
        last = self.logged().splitlines()[-1]
        assert f"ends; {self.keeps}" in last
        pairs = [pair.split() for pair in last.rpartition("; ")[2].split(", ")]
        return {name: int(count) for name, count in pairs}


class Answering(ThreadingHTTPServer):
    """A service that does whatever a test wants it to; it keeps what is reported to it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.image: Callable[[BaseHTTPRequestHandler], None] = unavailable
        self.asked: list[str | None] = []
        self.hints: Any = None
        self.reports: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let clients go: they may leave when they have had enough."""

    def answered(self) -> None:
        """Wait until something is asked for that was not yet."""
        before = len(self.asked)
        eventually(lambda: len(self.asked) > before + 1, "another request")


class _Handler(BaseHTTPRequestHandler):
    server: Answering

    def do_GET(self) -> None:
        self.server.asked.append(self.headers["If-None-Match"])
        self.server.image(self)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/hints/report":
            self.server.reports.append(body)
            self.send_response(204)
            self.end_headers()
        elif self.server.hints is None:
            unavailable(self)
        else:
            answer = json.dumps(self.server.hints).encode()
            send(self, answer, len(answer))

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def answering() -> Iterator[Answering]:
    """Serve what a test wants, at a free port."""
    with Answering() as service:
        thread = threading.Thread(target=service.serve_forever, args=[0.01])
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()


def unavailable(handler: BaseHTTPRequestHandler) -> None:
    handler.send_error(503)


def whole(image: bytes, tag: str = '"a tag"') -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer as one should."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.headers["If-None-Match"] == tag:
            handler.send_response(304)
            handler.end_headers()
        else:
            send(handler, image, len(image), ETag=tag)

    return answer


def send(handler: BaseHTTPRequestHandler, body: bytes, length: int, **headers: str) -> None:
    """Answer with a body, and say that it has some length."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(length))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


class Relay(threading.Thread):
    """Stands between the helper and a device, and stops in the midst of an image."""

    def __init__(self, path: Path, device: Device) -> None:
        super().__init__(daemon=True)
        self.device = device
        self.midst = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()

    def run(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.pass_on, args=[near], daemon=True).start()

    def pass_on(self, near: socket.socket) -> None:
        with near, socket.socket(socket.AF_UNIX) as far, near.makefile("rb") as requests:
            far.connect(str(self.device.path))
            answers = far.makefile("rb")
            while len(head := requests.read(8)) == 8:
                command, length = struct.unpack(FRAME, head)
                far.sendall(head)
                if command == LOAD:
                    far.sendall(requests.read(length // 2))
                    self.midst.set()
                    requests.read()  # until who sends it is gone
                    return
                far.sendall(requests.read(length))
                if len(head := answers.read(8)) < 8:
                    return
                with suppress(OSError):  # who asked may be gone by now
                    near.sendall(head + answers.read(struct.unpack(FRAME, head)[1]))
