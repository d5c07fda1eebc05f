"""Captures in tunnels, of many link types and containers: the same messages as without."""

from __future__ import annotations

import gzip
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from birthmark.data.follow.run import follow
from birthmark.data.ingest.run import ingest
from birthmark.data.schema import OPERATIONS
from birthmark.data.settings import Following
from birthmark.data.traces.captures import write_capture
from birthmark.data.traces.reader import open_trace
from tests import needs
from tests.builders.encapsulated import (
    CONTAINERS,
    LINKS,
    WRAPS,
    WRAPS6,
    Packet,
    Wrap,
    packets,
    pcap,
    write,
)
from tests.builders.followed import hours, rows

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "data" / "samples" / "day1.parquet"

# What the captures' pages say is in them: calls and replies of NFS, what is set set_aside.
PUBLIC: dict[str, tuple[int, dict[str, int]]] = {
    "tunnel-vxlan.pcap": (9, {}),
    "tunnel-gre-ip.pcap": (9, {}),
    "tunnel-erspan2.pcap": (9, {}),
    "tunnel-mpls1.pcap": (9, {}),
    "tunnel-mixed.pcap": (18, {}),
    "container-snoop.snoop": (9, {}),
    "link-nflog.pcap": (9, {}),
    "pcapng-late-interface.pcapng": (9, {"unknown-interface": 1}),
}
OPS = ["access", "create", "fsinfo", "getattr", "getattr", "lookup", "read", "remove", "write"]


def read(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    trace = open_trace(path)
    table = pa.Table.from_batches(list(trace), schema=OPERATIONS)
    return table, trace.counts()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> list[Packet]:
    """The packets of some operations over TCP, in Ethernet frames."""
    path = tmp_path_factory.mktemp("sample") / "sample.pcap"
    rows = pa.Table.from_batches(list(open_trace(SAMPLE)), schema=OPERATIONS).slice(0, 60)
    write_capture(rows.to_batches(), path)
    return packets(path.read_bytes())


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_capture_holds_what_its_page_says(shared: Path, name: str) -> None:
    calls, set_aside = PUBLIC[name]
    table, counts = read(shared / "captures" / "public" / name)
    assert counts["damaged"] == set_aside
    assert table.num_rows == calls
    assert table["reply_time"].null_count == 0
    times = calls // len(OPS)
    assert sorted(table["op"].to_pylist()) == sorted(OPS * times)
    assert Counter(table["transport"].to_pylist()) == {"tcp": 6 * times, "udp": 3 * times}
    assert set(table["server"].to_pylist()) == {"192.0.2.20"}
    clients = {"192.0.2.10", "192.0.2.11"} if times == 2 else {"192.0.2.10"}
    assert set(table["client"].to_pylist()) == clients
    failed = {row["op"] for row in table.to_pylist() if row["status"] != 0}
    assert failed == {"lookup", "fsinfo"}


def test_rows_of_a_container_have_the_times_of_its_page(shared: Path) -> None:
    table, _ = read(shared / "captures" / "public" / "container-snoop.snoop")
    times = [*table["time"].to_pylist(), *table["reply_time"].to_pylist()]
    assert min(times).isoformat().startswith("2023-11-14T22:13:20.002")
    assert max(times).isoformat().startswith("2023-11-14T22:13:20.0105")


def test_a_capture_without_times_is_refused_with_what_to_do(shared: Path) -> None:
    trace = open_trace(shared / "captures" / "public" / "pcapng-without-times.pcapng")
    with pytest.raises(ValueError, match=r"Simple Packet Blocks.*capture again"):
        list(trace)


def variants(sample: list[Packet], extra: dict[str, Wrap]) -> dict[str, bytes]:
    """The same packets in every encapsulation, on every link type and in every container."""
    files = {
        f"{name}.pcap": pcap([(time, wrap(frame)) for time, frame in sample])
        for name, wrap in (WRAPS | extra).items()
    }
    for name, (link, header) in LINKS.items():
        files[f"link-{name}.pcap"] = pcap([(time, header(frame)) for time, frame in sample], link)
    return files | {f"container-{name}": make(sample) for name, make in CONTAINERS.items()}


def test_every_encapsulation_holds_the_same_rows(sample: list[Packet], tmp_path: Path) -> None:
    plain, _ = read(write(tmp_path / "plain.pcap", pcap(sample)))
    assert plain.num_rows == 60
    for name, content in variants(sample, {}).items():
        table, counts = read(write(tmp_path / name, content))
        assert table.equals(plain), name
        assert (counts["damaged"], counts["orphans"]) == ({}, {}), name
    for name, wrap in WRAPS6.items():
        content = pcap([(time, wrap(frame)) for time, frame in sample])
        table, _ = read(write(tmp_path / name, content))
        hosts = ["client", "server"]
        assert table.drop_columns(hosts).equals(plain.drop_columns(hosts)), name
        assert all(host.startswith("::ffff:") for host in table["server"].to_pylist()), name
    compressed = gzip.compress(CONTAINERS["snoop"](sample))
    assert read(write(tmp_path / "snoop.gz", compressed))[0].equals(plain)


def test_every_container_is_followed(sample: list[Packet], tmp_path: Path) -> None:
    ingest([str(write(tmp_path / "plain.pcap", pcap(sample)))], tmp_path / "plain")
    expected = rows(tmp_path / "plain")
    for number, make in enumerate(CONTAINERS.values()):
        out = tmp_path / f"followed-{number}"
        path = write(tmp_path / f"capture-{number}", make(sample))
        follow(path, out, Following(until_idle=0.01))
        assert rows(*hours(out)) == expected


@pytest.mark.deep
def test_tshark_finds_the_same_messages_in_every_encapsulation(
    sample: list[Packet], tmp_path: Path
) -> None:
    fields = ["-T", "fields", "-e", "rpc.xid", "-e", "rpc.msgtyp"]
    for name, content in variants(sample, WRAPS6).items():
        path = write(tmp_path / name, content)
        command = [needs.program("tshark"), "-r", str(path), "-Y", "rpc", *fields]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        theirs: Counter[tuple[int, str]] = Counter()
        for line in done.stdout.splitlines():
            xids, kinds = (word.split(",") for word in line.split("\t"))
            theirs.update((int(xid, 16), kind) for xid, kind in zip(xids, kinds, strict=True))
        table = read(path)[0].to_pylist()
        ours = Counter((row["xid"], "0") for row in table)
        ours.update((row["xid"], "1") for row in table if row["reply_time"] is not None)
        assert ours == theirs, name


def test_the_documented_depth_is_the_codes() -> None:
    code = (ROOT / "native/trace/src/capture/ethertype.rs").read_text()
    depth = re.search(r"DEPTH: u8 = (\d+);", code)
    stated = re.search(r"up to (\d+) of them", (ROOT / "docs/administrators.md").read_text())
    assert depth is not None
    assert stated is not None
    assert depth[1] == stated[1]
