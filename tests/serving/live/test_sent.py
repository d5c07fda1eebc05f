"""A follower and a service on different hosts, as far as one machine can be two."""

from __future__ import annotations

import signal
import socket
import ssl
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data.datasets.tables import read_files
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.data.schema import LOOKED_UP
from birthmark.data.traces.captures import write_capture
from birthmark.serving.access import tokens
from birthmark_native import SharedHistory
from tests.serving.services import Process, certified, publish, started
from tests.waiting import eventually, reserved_port

pytestmark = pytest.mark.deep

FOR_EVER = 1e12


class Place:
    """A folder for a service and a follower, with both their histories."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("follower", "service", "captures"):
            (folder / name).mkdir(mode=0o700)
        self.own, self.copy = (folder / name / "history" for name in ("follower", "service"))
        write_capture(
            pq.read_table(DAYS[0]).slice(0, 3000).to_batches(),
            folder / "captures" / "first.pcap",
            cut_data=True,
        )
        publish(folder / "registry")
        self.asks = tokens.add(folder / "tokens.json", "asker", ["predict", "read"])
        follows = tokens.add(folder / "tokens.json", "follower", ["follow"])
        (folder / "token").write_text(follows)
        self.certificate, self.key = certified(folder)

    def service(self, port: int) -> Any:
        """Return a service in two threads, to be started."""
        options = {
            "--port": port,
            "--threads": 2,
            "--tokens": self.folder / "tokens.json",
            "--ssl-certfile": self.certificate,
            "--ssl-keyfile": self.key,
            "--history": self.copy,
            "--model": "forest",  # a kind that uses histories
            "--history-lag": FOR_EVER,
            "--history-age": 1.0,
        }
        words = [str(word) for option in options.items() for word in option]
        return started(self.folder / "registry", self.folder, *words, "--receive")

    def follower(self, port: int) -> subprocess.Popen[str]:
        """Start a follower that sends to a port of this host."""
        options = {
            "--history": self.own,
            "--send": f"https://127.0.0.1:{port}",
            "--send-token": self.folder / "token",
            "--send-certificates": self.certificate,
            "--status": self.folder / "status.json",
        }
        words = [str(word) for option in options.items() for word in option]
        command = [sys.executable, "-m", "birthmark", "follow", str(self.folder / "captures")]
        return subprocess.Popen([*command, str(self.folder / "followed"), *words, "--json"])

    def client(self, service: Process) -> httpx.Client:
        trusted = ssl.create_default_context(cafile=self.certificate)
        return service.client(verify=trusted, headers={"authorization": f"Bearer {self.asks}"})


def reading(path: Path) -> SharedHistory:
    return SharedHistory(path, 60.0, FOR_EVER, 1.0)


def has_the_same_histories(place: Place, creates: pa.RecordBatch) -> bool:
    """Return whether the copy gives creates the same histories as the follower's file."""
    own, copy = (reading(path).at(creates).to_pylist() for path in (place.own, place.copy))
    return own == copy and {row["told"] for row in own} == {"directory"}


def whys(client: httpx.Client) -> set[str | None]:
    """Return the reasons why the live history is not used."""
    headers = {"connection": "close"}  # each is a new connection
    answers = [
        client.post("/v1/predictions", json={"name": "a.lock"}, headers=headers) for _ in range(8)
    ]
    return {answer.json()["live"]["why"] for answer in answers}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def creates(place: Place) -> pa.RecordBatch:
    """Return the births in the capture, as requests."""
    ingest([place.folder / "captures" / "first.pcap"], place.folder / "ingested")
    files = read_files(place.folder / "ingested")
    files = files.filter(files["birth_seen"])
    files = files.append_column("time", files["born"])
    table = pa.table({name: files[name].cast(kind) for name, kind in LOOKED_UP.items()})
    (batch,) = table.combine_chunks().to_batches()
    return batch


@pytest.fixture
def killed() -> Iterator[ExitStack]:
    """Yield a stack of processes to end, also when a test fails."""
    with ExitStack() as stack:
        yield stack


def refuses(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return True
    return False


def ended(follower: subprocess.Popen[str], how: signal.Signals) -> None:
    follower.send_signal(how)
    follower.wait(60)


def test_a_remote_copy_gives_the_same_histories_as_the_followers_file(
    place: Place, creates: pa.RecordBatch, killed: ExitStack
) -> None:
    with reserved_port() as port, place.service(port) as service, place.client(service) as client:
        follower = place.follower(port)
        killed.callback(ended, follower, signal.SIGKILL)
        assert eventually(lambda: has_the_same_histories(place, creates), 60)
        assert whys(client) == {None}
        row = creates.slice(0, 1).to_pylist()[0]
        asked = {"name_base64": b64encode(row["name"]).decode(), "uid": row["uid"]}
        asked["directory_handle"] = b64encode(row["dir_fh"]).decode()
        found = client.post("/v1/predictions", json=asked).json()
        assert found["prediction"]["told"] == "directory"
        ended(follower, signal.SIGTERM)
        assert follower.returncode == 0
        assert eventually(lambda: whys(client) == {"stopped"})


def test_follower_and_service_resume_after_a_kill(
    place: Place, creates: pa.RecordBatch, killed: ExitStack
) -> None:
    with reserved_port() as port:
        with place.service(port) as service, place.client(service) as client:
            first = place.follower(port)
            killed.callback(ended, first, signal.SIGKILL)
            assert eventually(lambda: has_the_same_histories(place, creates), 60)
            ended(first, signal.SIGKILL)
            assert eventually(lambda: whys(client) == {"stale"})
            second = place.follower(port)
            killed.callback(ended, second, signal.SIGKILL)
            assert eventually(lambda: whys(client) == {None}, 60)
            assert has_the_same_histories(place, creates)
            service.process.kill()
        assert eventually(lambda: refuses(port)), "it has ended"
        with place.service(port) as service, place.client(service) as client:
            assert eventually(lambda: whys(client) == {None}, 60)
            assert has_the_same_histories(place, creates)
            ended(second, signal.SIGTERM)


def test_a_follower_reports_a_token_with_the_wrong_scope(place: Place, killed: ExitStack) -> None:
    (place.folder / "token").write_text(place.asks)
    with reserved_port() as port, place.service(port):
        follower = place.follower(port)
        killed.callback(ended, follower, signal.SIGKILL)
        status = place.folder / "status.json"
        expected = "403: expected a token for follow, found one for predict, read"
        assert eventually(lambda: status.exists() and expected in status.read_text(), 60)
        ended(follower, signal.SIGTERM)
        assert follower.returncode == 0
