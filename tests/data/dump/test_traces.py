"""Dumps as nfsdump text: as the tool prints it, and text through the tables unchanged.

Tests also data/dump/tables.py.
"""

from __future__ import annotations

import bz2
import hashlib
import lzma
import re
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import birthmark_native
from birthmark.data.datasets.tables import read_table
from birthmark.data.dump.tables import TablesDump
from birthmark.data.dump.traces import TraceDump
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.data.schema import MESSAGES, OPERATIONS
from birthmark.data.traces.reader import open_trace
from tests.builders.whole import Whole

CAPTURES = Path(__file__).parents[3] / "native" / "fuzz" / "corpus" / "capture"


def words(lines: bytes) -> Counter[tuple[bytes, ...]]:
    """Lines up to the order of their words, with how often each occurs."""
    return Counter(tuple(sorted(line.split(b" "))) for line in lines.split(b"\n")[:-1])


def through_tables(trace: Path, out: Path) -> bytes:
    ingest([trace], out)
    return b"".join(TablesDump(out))


# Text through the tables

HEX = st.integers(0, 2**32 - 1).map(lambda number: f"{number:x}")
LONG = st.integers(0, 2**64 - 1).map(lambda number: f"{number:x}")
SMALL = st.integers(0, 255).map(lambda number: f"{number:x}")
HANDLE = st.binary(min_size=1, max_size=64).map(bytes.hex)
SECONDS = st.integers(0, 4_000_000_000)
MICROS = st.integers(0, 999_999) | st.sampled_from([0, 999, 90_000, 100_000])
ESCAPED = b' \t\n"\\\0'  # what would end a word, a name or a line
V3 = """null getattr setattr lookup access readlink read write create mkdir symlink mknod remove
rmdir rename link readdir readdirp fsstat fsinfo pathconf commit"""
V2 = """null getattr setattr root lookup readlink read wrcache write create remove rename link
symlink mkdir rmdir readdir statfs"""
CALL_KEYS = """setattr:mode,uid,gid,size,atime,mtime lookup:name access:acc read:off,count
write:off,count,stable create:name,how,mode,uid,gid,size,atime,mtime mkdir:name,mode,uid,gid
symlink:name,mode,sdata mknod:name remove:name rmdir:name rename:name,fh2,name2 link:fh2,name
readdir:cookie,count readdirp:cookie,count,maxcnt commit:off,count"""
CALL_KEYS_2 = """setattr:mode,uid,gid,size,atime,mtime lookup:fn read:offset,count,tcount
write:begoff,offset,tcount create:fn,mode,uid,gid,size,atime,mtime remove:fn rename:fn,fh2,fn2
link:fh2,fn symlink:fn,fn2,mode mkdir:fn,mode rmdir:fn readdir:cookie2,count"""
ATTRIBUTES = "ftype mode nlink uid gid size used rdev rdev2 fsid fileid atime mtime ctime"
ATTRIBUTES_2 = "ftype mode nlink uid gid size blksize rdev blocks fsid fileid atime mtime ctime"
BEFORE = ["pre-size", "pre-mtime", "pre-ctime"]
AFTER = """access:acc readlink:name read:count,eof write:count,stable readdir:eof
statfs:tsize,bsize,blocks,bfree,bavail remove:nfsstat"""


def keys(table: str) -> dict[str, list[str]]:
    return {op: names.split(",") for op, names in (each.split(":") for each in table.split())}


@st.composite
def name(draw: st.DrawFn) -> str:
    raw = draw(st.binary(max_size=20) | st.text('abc.~# ,v\\"', max_size=8).map(str.encode))
    text = b"".join(b"\\%02x" % byte if byte in ESCAPED else bytes([byte]) for byte in raw)
    return '"' + text.decode("latin-1") + '"'


@st.composite
def value(draw: st.DrawFn, key: str, padded: bool, letter: bool) -> str:
    """A value of the key, in the style of the line."""
    key = re.sub(r"-\d+$", "", key)
    if key in ("fh", "fh2", "file"):
        return draw(HANDLE)
    if key in ("name", "name2", "fn", "fn2", "sdata"):
        return draw(name())
    if key.endswith("time"):
        fraction = draw(MICROS)
        return f"{draw(SECONDS)}.{fraction:06d}" if padded else f"{draw(SECONDS)}.{fraction}"
    if key in ("how", "stable"):
        return draw(st.sampled_from("UGX" if key == "how" else "UDF"))
    if key == "acc" and letter:
        return draw(st.sampled_from("RLMEDXU"))
    if key == "cookie2":
        return f"{draw(st.integers(0, 2**32 - 1)):08x}"
    if key == "eof":
        return draw(st.sampled_from("01"))
    if key == "ftype":
        return draw(SMALL)
    long = {"size", "used", "fsid", "fileid", "off", "cookie", "pre-size"}
    return draw(LONG if key in long else HEX)


@st.composite
def fields(draw: st.DrawFn, names: list[str], padded: bool) -> list[str]:
    """Some of the fields named, with values."""
    letter = draw(st.booleans())
    chosen = [each for each in names if draw(st.integers(0, 4))]
    return [
        f"{each.removesuffix('2') if each == 'cookie2' else each} "
        + draw(
            st.just("SERVER")
            if each in ("atime", "mtime") and "how" in names and not draw(st.integers(0, 3))
            else value(each, padded, letter)
        )
        for each in chosen
    ]


@st.composite
def reply_fields(draw: st.DrawFn, op: str, version: int, padded: bool) -> list[str]:
    attributes = (ATTRIBUTES if version == 3 else ATTRIBUTES_2).split()
    found = draw(fields(["fh"], padded))
    for _ in range(draw(st.integers(0, 2))):
        if draw(st.booleans()):
            found += draw(fields(BEFORE, padded))
        found += [f"ftype {draw(SMALL)}", *draw(fields(attributes[1:], padded))]
    found += draw(fields(keys(AFTER).get(op, []), padded))
    if op in ("readdir", "readdirp"):
        for entry in range(draw(st.integers(0, 12))):
            wanted = ["fileid", "name", "cookie"] + ["fh", "mode", "mtime"] * (op == "readdirp")
            listed = draw(fields([f"{key}-{entry}" for key in wanted], padded))
            found += listed or [f"fileid-{entry} 1"]
    return found


@st.composite
def exchange(draw: st.DrawFn, xid: int, since: int) -> list[str]:
    """A call and its reply in one style; one of them may be missing, or come twice.

    They come within ten minutes of ``since``: times that lie hours apart would be set aside.
    """
    version = draw(st.sampled_from([2, 3]))
    number, op = draw(st.sampled_from(list(enumerate((V3 if version == 3 else V2).split()))))
    padded, two = draw(st.booleans()), draw(st.booleans())
    hosts = st.sampled_from(["31", "116", "a", "0a0688ba", "fe80" + 27 * "0" + "1"])
    client, server = f"{draw(hosts)}.{draw(st.integers(0, 65535)):04x}", f"{draw(hosts)}.0801"
    shown = f"{xid:08x}" if draw(st.booleans()) else f"{xid:x}"
    procedure = f"{number:02x}" if two else f"{number:x}"
    way = draw(st.sampled_from("UT"))
    seconds = since + draw(st.integers(0, 600))
    call = f"{seconds}.{draw(MICROS):06d} {client} {server} {way} C{version} {shown}"
    reply = f"{seconds + 1}.{draw(MICROS):06d} {server} {client} {way} R{version} {shown}"
    wanted = keys(CALL_KEYS if version == 3 else CALL_KEYS_2).get(op, [])
    asked = draw(fields(["file" if op == "commit" else "fh", *wanted, "euid", "egid"], padded))
    status = draw(st.sampled_from(["OK", "OK", "2", "46"]))
    results = [] if op == "null" else [status, *draw(reply_fields(op, version, padded))]
    style = draw(st.integers(0, 2))
    con, size = draw(st.integers(0, 1500)), draw(st.integers(0, 65535))
    code = "0" if op == "null" or status == "OK" else status
    trailer = [
        "con = XXX len = XXX",
        f"con={con} len={size}",
        f"con = {con} len = {size}",
    ][style]
    answer = [
        "status=XXX pl = XXX",
        f"status={code} pl={size - con}",
        f"status={code} pl = {size - con}",
    ][style]
    gap = " " if draw(st.booleans()) else ""
    lines = [
        " ".join([call, procedure, op, *asked, trailer]),
        " ".join([reply, procedure, op, *results, gap + answer, trailer]),
    ]
    which = draw(st.sampled_from([[0, 1], [0, 1], [0], [1], [0, 0, 1], [0, 1, 1], [1, 0]]))
    return [lines[at] for at in which]


@pytest.mark.deep
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_well_formed_line_comes_back_through_the_tables(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    xids = data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=6, unique=True))
    since = 1_063_065_600 + data.draw(st.integers(-40_000, 40_000))  # around 2003-09-09
    text = [line for xid in xids for line in data.draw(exchange(xid, since))]
    content = "".join(f"{line}\n" for line in ["# a comment", *text]).encode("latin-1")
    folder = tmp_path_factory.mktemp("identity")
    (folder / "trace").write_bytes(content)
    trace = Whole(folder / "trace")
    writer = birthmark_native.TextWriter()
    out = b"".join([writer.write(batch) for batch in trace.operations])
    out += b"".join([writer.messages(batch) for batch in trace.messages])
    out += writer.finish()
    assert trace.damaged == []
    assert words(out) == words(content) - words(b"# a comment\n")
    # and what was read again says the same
    (folder / "again").write_bytes(out)
    assert words(b"".join(TraceDump(str(folder / "again")))) == words(out)


HEAD = "1006231501.396310 31.03f7 30.0801 U C3 b953f2e4 3 lookup"
ANSWER = "1006231501.396920 30.0801 31.03f7 U R3 b953f2e4"
MOUNT = HEAD.replace("3 lookup", "65 mnt") + ' "/home" euid 0 egid 0 con=134 len=158'
ODD = [
    f'{HEAD}  fh 0a name "a" con = XXX len = XXX',
    f'{HEAD} fh 0a name "a"  con = XXX len = XXX',
    f'{HEAD} fh 0A name "a" con = XXX len = XXX',
    f'{HEAD} fh 0a name "\\41" con = XXX len = XXX',
    f'{HEAD} fh 0a fh 0b name "a" con = XXX len = XXX',
    f'{HEAD} fh 0a name "a" JUMBO con = XXX len = XXX',
    f'{HEAD} fh 0a name "a" con = XXX len = XXX LONGPKT-164',
    f'{HEAD} fh 0a name "a" count 010 con = XXX len = XXX',
    f"{HEAD} SHORT PACKETcon = 130 len = 400 con = XXX len = XXX",
    f'{HEAD} fh 0a name "a" con = 082 len = 97',
    f'{HEAD} fh 0a name "a" con = 82 len = 97 con = XXX len = XXX',
    f"{HEAD} fh 0a atime 1.5 mtime 1.000005 con = XXX len = XXX",
    f'{HEAD} fn "a" fh 0a con = XXX len = XXX\r',
    HEAD.replace("3 lookup", "03 lookup").replace("b953f2e4", "000f2e4") + " con=1 len=2",
    MOUNT,
    f"{ANSWER} ffffffff unknown status=801 pl=-4 con=70 len=66",
    f"{ANSWER} 3 lookup 2  status=46 pl = XXX con = XXX len = XXX",
    f"{ANSWER} 4 access OK acc 2 status=XXX pl = XXX con = XXX len = XXX",  # no lookup's
]


@pytest.mark.parametrize("line", ODD)
@pytest.mark.parametrize("after_its_call", [False, True])
def test_a_line_printed_otherwise_comes_back_as_it_was(
    line: str, after_its_call: bool, tmp_path: Path
) -> None:
    call = f'{HEAD} fh 0a name "z" con = XXX len = XXX\n' if after_its_call else ""
    (tmp_path / "trace").write_text(f"{call}{line}\n", newline="")
    out = through_tables(tmp_path / "trace", tmp_path / "out")
    assert sorted(out.decode().split("\n")) == sorted(f"{call}{line}\n".split("\n"))


def test_the_published_traces_come_back_as_they_were(shared: Path, tmp_path: Path) -> None:
    sample = shared / "reference" / "ellard-raw-data.txt"
    damaged = {line["bytes"] for line in Whole(sample).damaged}
    lines = [line for line in sample.read_bytes().splitlines() if line not in damaged]
    assert len(lines) == 174
    out = through_tables(sample, tmp_path / "out")
    assert Counter(out.splitlines()) == Counter(lines)


# Captures, as nfsdump prints them

ADDED = {
    "null": "NULL calls are not printed",
    "write": "RPC records over 16,384 bytes are dropped",
    "unknown": "replies are called so that were not joined to their calls: left out of both",
}
"""The reference's gaps, according to README.md next to it: additional lines that may appear."""


def reference(shared: Path, name: str) -> list[str]:
    """The reference's lines, except those that README.md next to it calls wrong."""
    packed = (shared / "reference" / "nfsdump2" / f"{name}.txt.xz").read_bytes()
    correct = []
    for line in lzma.decompress(packed).decode().splitlines():
        found = line.split()
        if line.startswith("XX Not Auth_Unix"):  # calls with AUTH_NONE
            continue
        if len(found) < 9 or found[4][1:] not in ("2", "3"):  # other versions, on broken lines
            continue
        if found[7] in ("unknown", "mnt"):  # their replies; MOUNT
            continue
        correct.append(without_lengths(line))
    return correct


def without_lengths(line: str) -> str:
    """A line without its trailer, whose lengths only the original tool knows."""
    bare = re.sub(r"( status=\S+ pl=\S+)? con=\d+ len=\d+( LONGPKT-\d+)?$", "", line)
    return re.sub(r"( status=XXX pl = XXX)? con = XXX len = XXX$", "", bare)


def hashed(line: str) -> str:
    """A line with names replaced by their SHA-1 as in the reference, except `.` and `..`."""
    return re.sub(
        r'"([^"/]*)"',
        lambda match: (
            match[0]
            if match[1] in (".", "..")
            else f'"{hashlib.sha1(match[1].encode()).hexdigest().upper()}"'
        ),
        line,
    )


@pytest.mark.parametrize(
    ("capture", "lines"),
    [
        ("1-packet", 1),
        ("2sessions-tcp-wsize32k-tcp-wsize512k", 138),
        ("eth-ipv4-tcp-nfsv3", 262),
        ("eth-ipv4-udp-nfsv3", 114),
        ("eth-ipv4-udp-nfsv3-reply-first", 112),
        ("lo-ipv4-tcp-nfsv3-nfsacl", 12),
    ],
)
def test_captures_are_printed_as_the_original_prints_them(
    shared: Path, tmp_path: Path, capture: str, lines: int
) -> None:
    packed = shared / "reference" / "pcap" / f"{capture}.pcap.bz2"
    (tmp_path / "capture").write_bytes(bz2.decompress(packed.read_bytes()))
    ours = b"".join(TraceDump(str(tmp_path / "capture"))).decode().splitlines()
    printed = Counter(hashed(without_lengths(line)) for line in ours)
    wanted = Counter(reference(shared, capture))
    assert wanted.total() == lines
    assert wanted - printed == Counter()
    more = (printed - wanted).elements()
    assert {line.split()[7] for line in more} <= ADDED.keys()


def test_a_capture_is_printed_alike_by_way_of_the_tables(tmp_path: Path) -> None:
    printed = 0
    for capture in sorted(CAPTURES.glob("tiny-[0-9]*.pcap")):
        out = through_tables(capture, tmp_path / capture.stem)
        dump = TraceDump(str(capture))
        assert words(b"".join(dump)) == words(out)
        printed += out.count(b"\n")
        times = [line.split()[0] for line in out.splitlines()]
        assert times == sorted(times)
    assert printed > 50


def test_text_of_a_capture_is_read_again_with_the_same_values(tmp_path: Path) -> None:
    (batch, *_) = open_trace(DAYS[0])
    writer = birthmark_native.TextWriter(all_attributes=True)
    (tmp_path / "text").write_bytes(writer.write(batch) + writer.finish())
    again = pa.Table.from_batches(list(open_trace(tmp_path / "text")))
    unprinted = {  # by any key of the format
        *("machine", "gids", "guard_ctime", "cookie_verifier", "create_verifier"),
        *("reply_verifier", "entries"),
        *(name for name in OPERATIONS.names if name.startswith("fs_")),
        *(name for name in OPERATIONS.names if name.startswith(("call_", "reply_form"))),
    }
    order = [("time", "ascending"), ("client", "ascending"), ("xid", "ascending")]
    names = [name for name in OPERATIONS.names if name not in unprinted]
    plain = [
        pa.table({name: as_text(table[name]) for name in names}).sort_by(order)
        for table in (pa.table(batch), again)
    ]
    assert plain[0].num_rows > 30_000
    for column in names:
        assert plain[1][column] == plain[0][column], column


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.utf8()) if pa.types.is_dictionary(column.type) else column


# Live

CALL = struct.pack(">10I", 7, 0, 2, 100003, 3, 1, 0, 0, 0, 0) + struct.pack(">I4s", 4, b"\1\2\3\4")
REPLY = struct.pack(">7I", 7, 1, 0, 0, 0, 0, 70)


def packet(seconds: int, reply: bool) -> bytes:
    """A packet of a capture: a GETATTR over UDP, or its reply (RFC 768, 791, 1813, 5531)."""
    body, ports = (REPLY, (2049, 700)) if reply else (CALL, (700, 2049))
    ends = [bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])]
    source, target = ends[::-1] if reply else ends
    udp = struct.pack(">4H", *ports, 8 + len(body), 0) + body
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0)
    frame = bytes(12) + b"\x08\x00" + head + source + target + udp
    return struct.pack("<4I", seconds, 5, len(frame), len(frame)) + frame


LIVE = [
    b"1000.000005 0a000001.02bc 0a000002.0801 U C3 00000007 01 getattr fh 01020304"
    b" con = XXX len = XXX\n",
    b"1001.000005 0a000002.0801 0a000001.02bc U R3 00000007 01 getattr 46"
    b" status=XXX pl = XXX con = XXX len = XXX\n",
]


def test_input_of_a_pipe_is_printed_before_waiting_for_more() -> None:
    command = [sys.executable, "-m", "birthmark", "dump", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0) as dump:
        assert dump.stdin
        assert dump.stdout
        dump.stdin.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        dump.stdin.write(packet(1000, reply=False))
        assert dump.stdout.readline() == LIVE[0]  # or it would wait here for ever
        dump.stdin.write(packet(1001, reply=True))
        assert dump.stdout.readline() == LIVE[1]
        dump.stdin.close()
        assert dump.stdout.read() == b""
    assert dump.returncode == 0


# Bad input, and what has no form

ROW = {
    "time": 1, "server": "10.0.0.2", "server_port": 2049, "client": "10.0.0.1", "client_port": 700,
    "transport": "tcp", "version": 3, "xid": 7, "op": "getattr", "status": None, "retransmits": 0,
    "duplicate_replies": 0, "short": False,
}  # fmt: skip


def batch(**changes: object) -> pa.RecordBatch:
    row = {**ROW, **changes}
    fields = [OPERATIONS.field(name) for name in row]
    return pa.RecordBatch.from_pylist([row], schema=pa.schema(fields))


def text_of(rows: pa.RecordBatch) -> bytes:
    writer = birthmark_native.TextWriter()
    return writer.write(rows) + writer.finish()


def test_columns_that_may_be_null_may_be_missing() -> None:
    assert text_of(batch()) == (
        b"0.000001 0a000001.02bc 0a000002.0801 T C3 00000007 01 getattr con = XXX len = XXX\n"
    )


def test_rows_that_cannot_be_written_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match='column "xid" is missing'):
        text_of(batch().drop_columns(["xid"]))
    with pytest.raises(ValueError, match='column "xid" has nulls'):
        text_of(batch().set_column(7, "xid", pa.array([None], pa.uint32())))
    with pytest.raises(ValueError, match=r'host is "mail\.example"; nfsdump text has IP addresses'):
        text_of(batch(client="mail.example"))
    wrong = batch().drop_columns(["xid"]).append_column("xid", pa.array([1]))
    with pytest.raises(ValueError, match='column "xid" is Int64, expected UInt32'):
        text_of(wrong)


def test_operations_of_version_4_are_left_out_and_counted() -> None:
    writer = birthmark_native.TextWriter()
    assert writer.write(batch(version=4)) + writer.finish() == b""
    assert writer.left_out == 1


def test_names_and_handles_that_would_lead_a_reader_astray_are_printed_so_that_they_do_not(
    tmp_path: Path,
) -> None:
    rows = batch(op="lookup", fh=b"", name=b'a "b"\\\t\n\0\xff')
    (tmp_path / "text").write_bytes(text_of(rows))
    (again,) = open_trace(tmp_path / "text")
    assert again["name"].to_pylist() == [b'a "b"\\\t\n\0\xff']
    assert again["fh"].to_pylist() == [b""]


# The tables


def test_the_native_schema_of_messages_is_the_documented_one(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(f"{MOUNT}\n")
    trace = birthmark_native.Trace(str(tmp_path / "trace"))
    chunk = trace.next_chunk()
    assert chunk is not None
    (messages,) = chunk.messages
    assert messages.schema.equals(MESSAGES)


def test_messages_without_a_row_are_stored_with_their_kind(tmp_path: Path) -> None:
    call = f'{HEAD} fh 0a name "z" con = XXX len = XXX'
    reply = f"{ANSWER} 3 lookup 2  status=XXX pl = XXX con = XXX len = XXX"
    alone = reply.replace("b953f2e4", "1")
    mount = MOUNT.replace("b953f2e4", "2")
    (tmp_path / "trace").write_text("\n".join([call, call, reply, reply, alone, mount, ""]))
    summary = ingest([tmp_path / "trace"], tmp_path / "out")
    assert summary.rows["messages"] == 4
    rows = read_table(tmp_path / "out", "messages").to_pylist()
    assert sorted((row["kind"], row["reply"], row["op"], row["status"], row["line"].decode())
                  for row in rows) == sorted([
        ("retransmission", False, "lookup", None, call),
        ("duplicate reply", True, "lookup", 2, reply),
        ("reply without call", True, "lookup", None, alone),
        ("other program", False, None, None, mount),
    ])  # fmt: skip
    assert {row["program"] for row in rows} == {None, 100005}


def test_operations_from_before_the_columns_of_lines_are_still_a_trace(tmp_path: Path) -> None:
    old = pq.read_table(DAYS[0]).slice(0, 100)
    assert "call_form" not in old.schema.names
    rows = next(iter(open_trace(DAYS[0])))
    assert rows.schema == OPERATIONS
    assert rows["call_form"].null_count == len(rows)
    path = tmp_path / "old.parquet"
    pq.write_table(old.drop_columns(["xid"]), path)
    with pytest.raises(ValueError, match="column xid: expected uint32 as in the operations table"):
        open_trace(path)


def test_other_inputs_than_datasets_and_operations_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="expected a directory ingests/"):
        list(TablesDump(tmp_path))
    (tmp_path / "text").write_bytes(LIVE[0])
    with pytest.raises(ValueError, match="text: is nfsdump; expected a dataset, or operations"):
        list(TablesDump(tmp_path / "text"))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        list(TraceDump(str(tmp_path / "nowhere")))
