"""A real server and its clients, followed: counts equal tshark's of a simultaneous capture."""

from __future__ import annotations

import ctypes.util
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from birthmark.data.datasets.ingests import records
from birthmark.data.datasets.tables import read_files
from birthmark_native import SharedHistory
from tests import needs
from tests.builders.followed import hours
from tests.data.follow import nfs_client
from tests.data.follow.nfs_host import NfsHost, nfs_host
from tests.data.traces.test_captures_written import PROCEDURES
from tests.waiting import eventually

pytestmark = pytest.mark.deep

FILES = 60
"""The number of files that each client makes."""

ROOM = "262144"
"""The kernel's buffer of packets for a slow program, in KB: none may be dropped."""

SOURCES: dict[str, Callable[[], list[str]]] = {
    "tcpdump": lambda: [*tcpdump("-"), "port", "2049"],
    "tap": lambda: [tap(), "lo", "--buffer", "256"],
}
"""The programs that write to the follower's pipe, by name."""

Counts = dict[str, tuple[int, int]]


def tcpdump(into: str | Path) -> list[str]:
    return [needs.program("tcpdump"), "-Z", "root", "-i", "lo", "-B", ROOM, "-U", "-w", str(into)]


def tap() -> str:
    """Return the path of `birthmark-tap`, which `make tap` installs next to Python."""
    found = Path(sys.executable).with_name("birthmark-tap")
    if not found.exists():
        needs.missing("needs birthmark-tap (make tap; Debian: apt-get install libpcap-dev)")
    return str(found)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NfsHost]:
    if ctypes.util.find_library("nfs") is None:
        needs.missing("needs libnfs (Debian: apt-get install libnfs13)")
    with nfs_host(tmp_path_factory.mktemp("nfs")) as host:
        yield host


@contextmanager
def beside(host: NfsHost, path: Path) -> Iterator[None]:
    """Capture all packets during the block."""
    capture = host.start(*tcpdump(path), stderr=subprocess.PIPE, text=True)
    assert capture.stderr is not None
    assert "listening on lo" in capture.stderr.readline()
    yield
    host.run("bash", "-c", "echo that was all > /dev/udp/127.0.0.1/9")
    assert eventually(lambda: b"that was all" in path.read_bytes()[-500:])
    capture.terminate()
    _, output = capture.communicate()
    assert "\n0 packets dropped by kernel" in output


@contextmanager
def ended(source: subprocess.Popen[bytes]) -> Iterator[None]:
    """End the writer of a pipe after the block, even on failure, so that its reader ends too."""
    try:
        yield
    finally:
        # SIGINT is what a shell has its background processes ignore
        source.terminate()


def work(host: NfsHost, folder: str) -> None:
    """Let two clients work at once, one per version."""
    program = [sys.executable, nfs_client.__file__]
    clients = [
        host.start(*program, version, export, f"{folder}{version}", str(FILES))
        for version, export in (("3", host.export), ("4", "/export"))
    ]
    assert [client.wait() for client in clients] == [0, 0]


def seen_by_tshark(capture: Path) -> tuple[Counts, tuple[int, int], float]:
    """Return calls and replies by procedure, those in compounds, and the last message's time."""
    fields = ["frame.time_epoch", "rpc.msgtyp", "rpc.procedure", "rpc.programversion", "nfs.opcode"]
    options = [word for field in fields for word in ("-e", field)]
    command = [needs.program("tshark"), "-r", str(capture), "-Y", "rpc.program == 100003"]
    # a segment that came again, behind others, is part of its message; client ports mean nothing
    command += ["-o", "tcp.reassemble_out_of_order:TRUE", "-d", "tcp.port==2049,rpc"]
    command += ["-T", "fields", *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    messages, in_compounds, last = Counter[tuple[str, str]](), Counter[str](), 0.0
    for line in done.stdout.splitlines():
        time, *fields = line.split("\t")
        ways, numbers, versions, opcodes = (each.split(",") if each else [] for each in fields)
        # each message has its version twice
        for way, number, version in zip(ways, numbers, versions[::2], strict=True):
            names = PROCEDURES.split() if version == "3" else ["null", "compound"]
            messages[names[int(number)], way] += 1
        if opcodes:
            (way,) = ways
            in_compounds[way] += len(opcodes)
        last = max(last, float(time))
    counts = {name: (messages[name, "0"], messages[name, "1"]) for name, _ in messages}
    return counts, (in_compounds["0"], in_compounds["1"]), last


def counted(out: Path) -> tuple[Counts, tuple[int, int]]:
    """Return calls and replies by procedure, and those in compounds, of all hours."""
    hour_records = [record for hour in hours(out) for record in records(hour).values()]
    calls, replies = Counter[str](), Counter[str]()
    in_compounds = (0, 0)
    for record in hour_records:
        for name, tally in record["procedures"].items():
            calls[name] += tally["calls"]
            replies[name] += tally["replies"]
        tallies = record["compound_operations"].values()
        for tally in tallies:
            in_compounds = in_compounds[0] + tally["calls"], in_compounds[1] + tally["replies"]
        assert record["records_set_aside"] == {}
    return {name: (calls[name], replies[name]) for name in calls}, in_compounds


def status(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


@pytest.mark.parametrize("source", SOURCES)
def test_the_follower_counts_as_tshark_does(host: NfsHost, tmp_path: Path, source: str) -> None:
    out, status_file, history = tmp_path / "out", tmp_path / "status.json", tmp_path / "history"
    watching = host.start(*SOURCES[source](), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    follow = [sys.executable, "-m", "birthmark", "follow", "-", str(out)]
    follow += ["--status", str(status_file), "--history", str(history)]
    with subprocess.Popen(follow, stdin=watching.stdout) as follower, ended(watching):
        assert eventually(lambda: status(status_file).get("files"), 60)  # the capture has begun
        with beside(host, tmp_path / "beside.pcap"):
            work(host, source)
        counts, in_compounds, last = seen_by_tshark(tmp_path / "beside.pcap")
        assert eventually(lambda: clock(status_file) >= int(last * 1000), 60)
        assert scope_by_inode(history, host.export / f"{source}3") == "directory"
    assert follower.returncode == 0
    assert counts["create"][0] >= FILES
    assert counts["compound"][0] >= FILES
    assert (counts, in_compounds) == counted(out)
    born = {name for hour in hours(out) for name in names_of_births(hour)}
    assert {b"inbox.%d" % number for number in range(FILES)} <= born


def scope_by_inode(history: Path, folder: Path) -> str:
    """Return the history scope of an answer about a file in a folder that is named by its inode."""
    reader = SharedHistory(history, max_age=60, max_lag=600, max_loss=0)
    place = (os.statvfs(folder).f_fsid.to_bytes(8, sys.byteorder), folder.stat().st_ino)
    caller: dict[str, Any] = {"mode": 0o640, "uid": 0, "client": "127.0.0.1"}
    _, level, why = reader.tell(b"inbox.7", dir_inode=place, **caller)
    return why or level


def names_of_births(hour: Path) -> list[bytes]:
    files = read_files(hour)
    return files.filter(files["birth_seen"])["name"].to_pylist()


def clock(status_file: Path) -> int:
    """Return the time of the last message that the follower knows, in ms since the epoch."""
    known = status(status_file).get("clock")
    return int(datetime.fromisoformat(known).timestamp() * 1000 + 0.5) if known else 0
