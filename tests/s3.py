"""A real server that speaks S3 (`make s3-server`), for tests of registries in an object store."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import needs
from tests.waiting import eventually, reserved_port

KEY, SECRET = "administrator", "not-for-others"


class Store:
    """The server, with a bucket whose objects are files in `objects`; it can go and come again."""

    def __init__(self, root: Path, port: int) -> None:
        self.program = Path(sys.executable).parent / "s3s-fs"
        if not self.program.exists():
            needs.missing("no S3 server: make s3-server")
        self._root = root
        self.objects = root / "models"
        self.objects.mkdir()
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None

    def uri(self, path: str, port: int | None = None) -> str:
        """Return the URI of a registry in the bucket, maybe as reached through another port."""
        place = f"127.0.0.1:{port or self.port}"
        query = f"scheme=http&endpoint_override={place}&region=us-east-1"
        return f"s3://{KEY}:{SECRET}@models/{path}?{query}"

    def start(self) -> None:
        """Run it until `stop`; return once it answers."""
        options = ("--host", "127.0.0.1", "--port", str(self.port))
        options += ("--access-key", KEY, "--secret-key", SECRET)
        self._process = subprocess.Popen(
            [self.program, *options, self._root],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        process = self._process
        assert eventually(lambda: process.poll() is not None or self._answers(), 60)
        assert process.poll() is None, "the S3 server ended"

    def _answers(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        """End it as a power cut does; what it stores stays."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@contextmanager
def running(root: Path) -> Iterator[Store]:
    """Run a server that keeps its objects below `root`, until the block ends."""
    with reserved_port() as port:
        store = Store(root, port)
        try:
            store.start()
            yield store
        finally:
            store.stop()
