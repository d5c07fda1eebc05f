"""Reading traces: formats recognized by the first bytes, damage set aside, the rest read.

Tests also data/traces/operations.py.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import birthmark_native
from birthmark.data import schema
from birthmark.data.schema import OPERATIONS
from birthmark.data.traces.operations import RowsTrace
from birthmark.data.traces.reader import READERS, open_trace
from tests.builders.whole import Whole

CALL = (
    "1006231501.396310 31.03f7 30.0801 U C3 b953f2e4 3 lookup fh cfbc6584 "
    'name "Sent\\20Items" euid 18abf egid 18a8a con = XXX len = XXX'
)
REPLY = (
    "1006231501.396920 30.0801 31.03f7 U R3 b953f2e4 3 lookup OK fh cfbc6585 ftype 1 mode 1b6 "
    "nlink 1 uid 18abf gid 18a8a size 207 used 400 rdev 0 rdev2 0 fsid 9 fileid 84fb8 "
    "atime 1006231501.431992 mtime 1006231501.431992 ctime 1006231501.436870 "
    "ftype 2 mode 1c0 nlink 2 uid 18abf gid 18a8a size 2000 used 2000 rdev 0 rdev2 0 fsid 9 "
    "fileid 86603 atime 997133456.000999 mtime 1006231501.427114 ctime 1006231501.427114 "
    "status=XXX pl = XXX con = XXX len = XXX"
)
TEXT = f"{CALL}\n{REPLY}\n".encode()


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return bytes(sink.getvalue())


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], tuple[list[dict[str, Any]], Whole]]:
    def read(content: bytes) -> tuple[list[dict[str, Any]], Whole]:
        path = tmp_path / "trace"
        path.write_bytes(content)
        trace = Whole(path)
        return trace.rows(), trace

    return read


def test_the_native_schema_is_the_documented_one(tmp_path: Path) -> None:
    (tmp_path / "trace").write_bytes(TEXT)
    chunk = birthmark_native.Trace(str(tmp_path / "trace")).next_chunk()
    assert chunk is not None
    (batch,) = chunk.operations
    assert batch.schema.equals(schema.OPERATIONS)


def test_every_column_says_what_it_means() -> None:
    for table in (schema.OPERATIONS, schema.FILES, schema.NAMES):
        assert all(each.metadata and each.metadata.get(b"doc") for each in table)


def test_a_call_and_its_reply_are_one_row(read: Any) -> None:
    (row,), trace = read(TEXT)
    assert trace.format == "nfsdump"
    expected = {
        "server": "30",
        "server_port": 2049,
        "client": "31",
        "client_port": 0x3F7,
        "transport": "udp",
        "version": 3,
        "xid": 0xB953F2E4,
        "op": "lookup",
        "status": 0,
        "retransmits": 0,
        "short": False,
        "uid": 0x18ABF,
        "gid": 0x18A8A,
        "fh": bytes.fromhex("cfbc6584"),
        "name": b"Sent Items",
        "new_fh": bytes.fromhex("cfbc6585"),
        "ftype": 1,
        "size": 0x207,
        "dir_ftype": 2,
        "dir_size": 0x2000,
    }
    assert {name: row[name] for name in expected} == expected
    assert row["reply_time"] - row["time"] == timedelta(microseconds=610)


@pytest.mark.parametrize(
    ("pack", "word"),
    [
        (lambda content: content, "none"),
        (gzip.compress, "gzip"),
        (bz2.compress, "bzip2"),
        (lzma.compress, "xz"),
        (zstd, "zstd"),
        (lambda content: gzip.compress(content[:300]) + gzip.compress(content[300:]), "gzip"),
    ],
)
def test_compression_is_recognized_by_the_first_bytes(read: Any, pack: Any, word: str) -> None:
    plain, _ = read(TEXT)
    rows, trace = read(pack(TEXT))
    assert (rows, trace.compression) == (plain, word)


def test_standard_input_is_a_trace() -> None:
    script = "import birthmark\nprint(sum(b.num_rows for b in birthmark.open_trace('-')))"
    run = subprocess.run(
        [sys.executable, "-c", script], input=gzip.compress(TEXT), capture_output=True, check=True
    )
    assert run.stdout == b"1\n"


def test_a_parquet_file_of_operations_is_a_trace(read: Any, tmp_path: Path) -> None:
    rows, trace = read(TEXT)
    path = tmp_path / "operations.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema.OPERATIONS), path)
    again = open_trace(path)
    assert [row for batch in again for row in batch.to_pylist()] == rows
    assert again.format == "operations"
    counts, counts_again = trace.counts(), again.counts()
    for name in ("procedures", "period", "retransmits", "short"):
        assert counts_again[name] == counts[name]


def test_a_parquet_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"time": [1]}), path)
    with pytest.raises(ValueError, match=r"other\.parquet: column time: expected timestamp"):
        open_trace(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"",
            r"trace: is empty, or all zero bytes; expected nfsdump text(,| or) a packet capture \(",
        ),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", r"it begins with .xff.xd8.*expected nfsdump text"),
        (b"hello, world\n", "it begins with hello, world"),
    ],
)
def test_other_files_than_traces_are_refused_by_name(
    read: Any, content: bytes, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read(content)


def test_a_directory_and_a_missing_file_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        open_trace(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        open_trace(tmp_path / "nowhere")


def test_a_gzip_file_cut_short_gives_its_readable_lines_and_says_so(read: Any) -> None:
    lines = "".join(
        f"{CALL}\n".replace("b953f2e4", f"{xid:x}").replace("cfbc6584", f"{xid * 977:08x}")
        for xid in range(20_000)
    )
    packed = gzip.compress(lines.encode())
    rows, trace = read(packed[: len(packed) // 2])
    counts = trace.counts()
    assert 5_000 < len(rows) < 15_000
    assert counts["damaged"]["compression-damaged"] == 1
    (*_, last) = trace.damaged
    assert last["expected"].startswith("gzip data to its end")


# Known damage of the published traces; none of it may stop a run.
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("XX Funny line (3)", "funny-line"),
        ("XX Not Auth_Unix (0)??", "not-auth-unix"),
        (CALL[:-20], "no-trailer"),
        (CALL + CALL, "trailing-text"),
        (CALL.replace("fh cfbc", "fh xyzw"), "bad-handle"),
        (CALL.replace("fh ", "fj "), "unknown-field"),
        (CALL.replace("3 lookup", "3 lookout"), "bad-procedure"),
        (CALL.replace("3 lookup", "4 lookup"), "bad-procedure"),
        (CALL.replace(" U ", " Q "), "bad-transport"),
        (CALL.replace("31.03f7", "31-03f7"), "bad-address"),
        (CALL.replace("b953f2e4", "b953f2e4b953f2e4"), "bad-xid"),
        (CALL.replace("C3", "CU4"), "nfs-version-4"),
        (CALL.replace('Items"', "Items"), "bad-name"),
        (REPLY.replace("997133456.000999", "2255194683.3448702"), "bad-time"),
        (REPLY.replace(" OK ", " ?? "), "bad-status"),
    ],
)
def test_a_damaged_line_is_set_aside_and_the_others_are_read(
    read: Any, line: str, reason: str
) -> None:
    rows, trace = read(TEXT + line.encode() + b"\n" + TEXT.replace(b"b953f2e4", b"1"))
    assert len(rows) == 2
    (damaged,) = trace.damaged
    assert damaged["reason"] == reason
    assert (damaged["line"], damaged["offset"]) == (3, len(TEXT))
    assert damaged["bytes"] == line.encode()
    assert damaged["expected"]


def test_blocks_of_zero_bytes_are_one_record_wherever_they_stand(read: Any) -> None:
    zeros = b"\0" * 3_000_000
    other = TEXT.replace(b"b953f2e4", b"1")
    rows, trace = read(zeros + TEXT + zeros + other[:100] + zeros + other)
    assert len(rows) == 2
    damaged = trace.damaged
    assert [each["reason"] for each in damaged] == [
        "zero-block",
        "zero-block",
        "no-trailer",
        "zero-block",
    ]
    assert [each["length"] for each in damaged] == [len(zeros), len(zeros), 100, len(zeros)]


def test_a_file_cut_in_the_middle_of_a_line_gives_the_lines_before(read: Any) -> None:
    rows, trace = read(TEXT + CALL[:40].encode())
    assert len(rows) == 1
    assert trace.counts()["damaged"] == {"cut-short": 1}


@pytest.mark.parametrize(
    "cut",
    [
        CALL.split(" fh")[0] + " SHORT PACKETcon = 130 len = 400 con = XXX len = XXX",
        CALL.split(" euid")[0] + " SHORT PACKET con = XXX len = XXX",
    ],
)
def test_a_short_packet_is_a_row_of_what_could_be_read(read: Any, cut: str) -> None:
    (row,), trace = read(cut.encode() + b"\n")
    assert row["op"] == "lookup"
    assert row["short"]
    assert row["uid"] is None
    assert trace.counts()["short"] == 1


@pytest.mark.parametrize("mark", ["JUMBO", "LONGPACKET", "LONGPKT-164"])
def test_marks_of_large_packets_are_dropped(read: Any, mark: str) -> None:
    (plain,), _ = read(TEXT)
    for where in (" con = XXX", ""):
        marked = CALL.replace(where, f" {mark}{where}") if where else f"{CALL} {mark}"
        (row,), _ = read(f"{marked}\n{REPLY}\n".encode())
        assert row.pop("call_text").decode() == marked
        assert row | {"call_text": None} == plain


def test_sizes_of_setattr_before_september_2003_have_their_halves_put_right(read: Any) -> None:
    line = "{}.1 31.03f7 30.0801 U C3 1 2 setattr fh 01 size {} con = XXX len = XXX\n"
    # 2003-09-08 and 2003-09-10
    for time, printed, size in [
        (1_063_000_000, "200000000000", 0x2000),
        (1_063_000_000, "2000", 0x2000),
        (1_063_200_000, "200000000000", 0x2000_0000_0000),
    ]:
        (row,), _ = read(line.format(time, printed).encode())
        assert row["set_size"] == size


def test_directory_entries_are_kept_with_their_listing(read: Any) -> None:
    call = "1.0 31.03f7 30.0801 T C3 1 11 readdirp fh 01 cookie 0 count 200 maxcnt 1000"
    reply = (
        'OK ftype 2 name-0 "." fileid-0 5 cookie-0 1 fh-0 01 name-1 "a\\20b" fileid-1 6 cookie-1 2'
    )
    (row,), _ = read(
        f"{call} con = 1 len = 2\n1.1 30.0801 31.03f7 T R3 1 11 readdirp {reply} "
        "status=0 pl=1 con=2 len=3\n".encode()
    )
    assert [(each["name"], each["fileid"], each["fh"]) for each in row["entries"]] == [
        (b".", 5, b"\x01"),
        (b"a b", 6, None),
    ]


def test_comments_and_empty_lines_are_counted_apart(read: Any) -> None:
    rows, trace = read(b"# a comment\n\n" + TEXT)
    assert len(rows) == 1
    assert (trace.counts()["lines"], trace.counts()["comments"]) == (4, 2)


def test_a_reply_of_text_may_come_before_its_call(read: Any) -> None:
    in_order, _ = read(TEXT)
    rows, trace = read(f"{REPLY}\n{CALL}\n".encode())
    assert rows == in_order
    assert trace.counts()["orphans"] == {}


class Lines(RowsTrace):
    """A user's format: a line with the time of each getattr."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "lines")

    def rows(self) -> Iterator[pa.RecordBatch]:
        always = {"server": "a", "client": "b", "op": "getattr", "version": 3, "status": 0}
        always |= {"retransmits": 0, "duplicate_replies": 0, "short": False}
        for line in Path(self.path).read_text().split()[1:]:
            row = always | {"time": int(line), "reply_time": int(line)}
            yield pa.RecordBatch.from_pylist([row], schema=OPERATIONS)


def test_a_reader_that_is_entered_reads_its_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(READERS, b"LINES", f"{__name__}:Lines")
    (tmp_path / "trace").write_text("LINES\n1000000\n-5\n2000000\n")
    trace = Whole(tmp_path / "trace")
    assert len(trace.rows()) == 2
    assert [record["line"] for record in trace.damaged] == [2]
    assert trace.counts()["procedures"]["getattr"]["calls"] == 2
