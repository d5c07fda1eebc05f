"""`serve --follow` keeps a follower running, and its workers use its live history."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from birthmark.data.samples import DAYS
from birthmark.data.traces.captures import write_capture
from birthmark.serving.server import follower
from birthmark.serving.settings import Settings

pytestmark = pytest.mark.deep


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    folder = tmp_path / "captures"
    folder.mkdir()
    table = pq.read_table(DAYS[0]).slice(0, 2000)
    write_capture(table.to_batches(), folder / "first.pcap", cut_data=True)
    return folder


def followers(service: int) -> list[int]:
    """Return the process ids of a service's followers (Linux)."""
    pids = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            parent = next(line for line in status.read_text().splitlines() if "PPid" in line)
            words = status.with_name("cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if int(parent.split()[1]) == service and b"follow" in words:
            pids.append(int(status.parent.name))
    return pids


def test_a_follower_is_started_restarted_and_ended_with_the_service(
    started: Callable[..., Any],
    publish: Callable[..., str],
    eventually: Callable[..., bool],
    captures: Path,
    tmp_path: Path,
) -> None:
    publish(tmp_path / "registry")
    (tmp_path / "run").mkdir(mode=0o700)
    options = {
        "--follow": captures,
        "--followed": tmp_path / "followed",
        "--history": tmp_path / "run" / "history",
        "--history-lag": 1e12,
        "--model": "forest",  # a kind that uses histories
    }
    words = [str(word) for option in options.items() for word in option]
    with started(tmp_path / "registry", tmp_path, *words) as service, service.client() as client:

        def is_used() -> bool:
            answer = client.post("/v1/predictions", json={"name": "inbox.lock"}).json()
            return (answer["live"]["why"], answer["prediction"]["told"]) == (None, "name")

        assert eventually(is_used, 60)
        (first,) = followers(service.process.pid)
        os.kill(first, signal.SIGKILL)
        assert eventually(lambda: followers(service.process.pid) not in ([], [first]), 30)
        assert eventually(is_used, 60)
        (second,) = followers(service.process.pid)
    assert eventually(lambda: not Path(f"/proc/{second}").exists(), 30)


def test_following_needs_output_directories(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected followed and history, too"):
        Settings(follow=tmp_path)


def test_a_service_without_a_source_starts_no_follower() -> None:
    with follower.followed(Settings()):
        assert followers(os.getpid()) == []
