"""Captures written from operations: read again by our decoder, and by tshark."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from birthmark.data.schema import OPERATIONS
from birthmark.data.traces.captures import write_capture
from birthmark.data.traces.reader import open_trace
from tests import needs

SAMPLE = Path(__file__).parents[3] / "data" / "samples" / "day1.parquet"
# RFC 1813, section 3.3
PROCEDURES = """null getattr setattr lookup access readlink read write create mkdir symlink mknod
remove rmdir rename link readdir readdirplus fsstat fsinfo pathconf commit"""
TEXT = (
    '1003679998.397742 31.03f7 30.0801 U C3 b253f2e4 3 lookup fh 0a0b0c name "inbox" euid 187'
    " egid 188 con = 93 len = 1\n"
    "1003679998.398000 30.0801 31.03f7 U R3 b253f2e4 3 lookup 2 status=2 pl = 1 con = 1 len = 1\n"
)


@pytest.fixture(scope="module")
def sample() -> pa.Table:
    """Return the first 20,000 operations of the bundled sample."""
    return read(SAMPLE).slice(0, 20_000)


def read(path: Path) -> pa.Table:
    return pa.Table.from_batches(list(open_trace(path)), schema=OPERATIONS)


def ordered(table: pa.Table) -> pa.Table:
    """The rows in one order, words as text."""
    keys = ["time", "client", "client_port", "xid"]
    plain = pa.schema(
        [f.with_type(pa.utf8()) if pa.types.is_dictionary(f.type) else f for f in table.schema]
    )
    return table.cast(plain).sort_by([(key, "ascending") for key in keys]).replace_schema_metadata()


@pytest.mark.parametrize("cut_data", [False, True])
def test_the_rows_of_a_written_capture_are_those_it_was_made_of(
    sample: pa.Table, tmp_path: Path, cut_data: bool
) -> None:
    path = tmp_path / "sample.pcap"
    few = sample.slice(0, 5000)
    written = write_capture(few.to_batches(), path, cut_data=cut_data)
    assert (written["calls"], written["replies"]) == (5000, 5000)
    assert written["skipped"] == {}
    assert ordered(read(path)) == ordered(few)


def test_without_file_data_a_capture_is_a_fraction_as_large(
    sample: pa.Table, tmp_path: Path
) -> None:
    whole, cut = tmp_path / "whole.pcap", tmp_path / "cut.pcap"
    write_capture(sample.slice(0, 5000).to_batches(), whole)
    write_capture(sample.slice(0, 5000).to_batches(), cut, cut_data=True)
    data = pc.sum(sample.slice(0, 5000).filter(pc.field("op") == "write")["count"]).as_py()
    assert whole.stat().st_size - cut.stat().st_size > data > cut.stat().st_size


@pytest.mark.parametrize("name", ["tiny.pcap", "trouble.pcap.xz"])
def test_whole_and_cut_messages_of_a_real_capture_come_back(
    shared: Path, tmp_path: Path, name: str
) -> None:
    rows = read(shared / "captures" / name)
    path = tmp_path / "again.pcap"
    write_capture(rows.to_batches(), path, cut_data=True)
    assert ordered(read(path)) == ordered(rows)


def tshark(path: Path, *arguments: str) -> Iterator[list[str]]:
    """The fields that tshark prints of each packet, with checksums verified."""
    checks = [f"{layer}.check_checksum:TRUE" for layer in ("ip", "tcp", "udp")]
    options = [word for check in checks for word in ("-o", check)]
    command = [needs.program("tshark"), "-r", str(path), *options, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return (line.split("\t") for line in done.stdout.splitlines())


@pytest.mark.deep
def test_tshark_counts_the_same_calls_and_replies(sample: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "sample.pcap"
    write_capture(sample.to_batches(), path, cut_data=True)
    fields = ["-T", "fields", "-e", "rpc.msgtyp", "-e", "nfs.procedure_v3"]
    seen = Counter(map(tuple, tshark(path, "-Y", "rpc", *fields)))
    procedures = PROCEDURES.split()
    expected = Counter(sample["op"].to_pylist())
    assert len(expected) > 15
    for direction in "01":
        found = {procedures[int(of)]: n for (way, of), n in seen.items() if way == direction}
        assert found == expected


@pytest.mark.deep
def test_tshark_finds_whole_packets_sound(sample: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "sample.pcap"
    write_capture(sample.slice(0, 3000).to_batches(), path)
    damage = (
        "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0"
        " || tcp.analysis.lost_segment || tcp.analysis.out_of_order"
    )
    assert list(tshark(path, "-Y", damage)) == []
    openings = list(tshark(path, "-Y", "tcp.flags.syn == 1 && tcp.flags.ack == 0"))
    conversations = sample.slice(0, 3000).group_by(["client", "client_port"]).aggregate([])
    assert len(openings) == conversations.num_rows


@pytest.mark.deep
def test_numbered_hosts_of_text_become_addresses_and_datagrams_stay_datagrams(
    tmp_path: Path,
) -> None:
    trace, path = tmp_path / "trace.txt", tmp_path / "trace.pcap"
    trace.write_text(TEXT)
    rows = read(trace)
    write_capture(rows.to_batches(), path)
    again = read(path)
    (row,) = again.to_pylist()
    assert (row["client"], row["server"]) == ("10.0.0.31", "10.0.0.30")
    assert row["transport"] == "udp"
    same = ["time", "reply_time", "client_port", "server_port", "xid", "op", "status", "uid", "gid"]
    same += ["fh", "name"]
    assert again.select(same).to_pylist() == rows.select(same).to_pylist()
    (packet, _) = tshark(path, "-T", "fields", "-e", "ip.src", "-e", "udp.checksum.status")
    assert packet == ["10.0.0.31", "1"]


def test_rows_of_other_versions_are_counted_and_left_out(sample: pa.Table, tmp_path: Path) -> None:
    few = sample.slice(0, 10)
    index = few.schema.get_field_index("version")
    versions = pa.array([2, 4] + [3] * 8, pa.uint8())
    few = few.set_column(index, few.schema.field("version"), versions)
    written = write_capture(few.to_batches(), tmp_path / "some.pcap")
    assert written["calls"] == 8
    assert written["skipped"] == {"another version than 3": 2}


def test_a_capture_that_fails_leaves_what_stood_there(sample: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "some.pcap"
    path.write_bytes(b"before")
    broken = sample.drop_columns(["xid"]).slice(0, 10)
    batches = sample.slice(0, 10).to_batches() + broken.to_batches()
    with pytest.raises(ValueError, match='operations: column "xid" is missing'):
        write_capture(batches, path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_named(sample: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        write_capture(sample.slice(0, 10).to_batches(), tmp_path / "absent" / "some.pcap")
