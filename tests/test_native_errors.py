"""Every reason for a refusal by the extension is raised here, by its name."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import birthmark_native as native
from birthmark.data.schema import OPERATIONS
from birthmark.predictor.image.format import plain_image
from birthmark.predictor.image.rules import ImageRule, RulesSection
from birthmark.serving.server.front import Config, config
from birthmark.serving.settings import Settings
from tests.layout_hint.laid import STEPS_AT, VERSION_AT, sealed
from tests.refusals import Refusals

BUILTINS = {
    "TraceError": ValueError,
    "TableError": ValueError,
    "AnonymizeError": ValueError,
    "ImageError": ValueError,
    "RuleError": ValueError,
    "ForestError": ValueError,
    "CertaintyError": ValueError,
    "InvalidRequestError": ValueError,
    "ArgumentError": ValueError,
    "ArrayTypeError": TypeError,
    "StateError": RuntimeError,
    "SpillError": OSError,
    "SnapshotError": ValueError,
    "DefectError": RuntimeError,
}
DEFECTS = {
    "Broken",
    "CaptureError.NotACapture",  # other files never reach the decoder of captures
    "ComponentError.Arrow",
    "Decoder",  # no format has errors without names here
    "HistoryError.Arrow",
    "LivesError.Arrow",
    "TraceError.Arrow",
}
HUGE = {"ComponentError.Long", "HistoryError.Long", "SpillError.Record"}
refused = Refusals(native, DEFECTS, huge=HUGE)


def words(*values: str) -> pa.DictionaryArray:
    return pa.array(values).dictionary_encode()


CALL: dict[str, Any] = {
    "time": datetime(2001, 10, 22, tzinfo=UTC),
    "server": "30",
    "server_port": 2049,
    "client": "31",
    "client_port": 1023,
    "transport": "udp",
    "version": 3,
    "xid": 1,
    "op": "getattr",
    "retransmits": 0,
    "duplicate_replies": 0,
    "short": False,
}


def operations(**columns: pa.Array) -> pa.RecordBatch:
    """Return one operation, with some columns replaced."""
    batch = pa.Table.from_pylist([CALL], OPERATIONS).combine_chunks().to_batches()[0]
    return pa.record_batch(dict(zip(batch.schema.names, batch.columns, strict=True)) | columns)


def without(name: str) -> pa.RecordBatch:
    return operations().drop_columns([name])


def decoded(folder: Path, content: bytes) -> native.Trace:
    """Decode a trace to its end."""
    path = folder / "trace"
    path.write_bytes(content)
    trace = native.Trace(str(path))
    while trace.next_chunk() is not None:
        pass
    return trace


PCAP = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
LINE = b"%d.000000 30.0001 31.0801 U C3 1 0 null con = 70 len = 60\n"


@refused("TraceError.Empty")
def _(folder: Path) -> object:
    return decoded(folder, b"")


@refused("TraceError.Unrecognized")
def _(folder: Path) -> object:
    return decoded(folder, b"\xff\xd8\xff\xe0\x00\x10JFIF")


@refused("TraceError.AfterClock")
def _(folder: Path) -> object:
    return decoded(folder, LINE % 4_000_000_000)


@refused("CaptureError.CutHeader")
def _(folder: Path) -> object:
    return decoded(folder, PCAP[:10])


@refused("CaptureError.Version")
def _(folder: Path) -> object:
    return decoded(folder, PCAP[:4] + b"\x03" + PCAP[5:])


@refused("CaptureError.LinkType")
def _(folder: Path) -> object:
    return decoded(folder, PCAP[:20] + struct.pack("<I", 200))


@refused("CaptureError.SnoopVersion")
def _(folder: Path) -> object:
    return decoded(folder, b"snoop\0\0\0" + struct.pack(">II", 4, 4))


@refused("CaptureError.Datalink")
def _(folder: Path) -> object:
    return decoded(folder, b"snoop\0\0\0" + struct.pack(">II", 2, 8))


@refused("CaptureError.NoTimes")
def _(folder: Path) -> object:
    section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    interface = struct.pack("<IIHHII", 1, 20, 1, 0, 0, 20)
    packet = struct.pack("<III4sI", 3, 20, 4, b"data", 20)
    return decoded(folder, section + interface + packet)


@refused("NoText")
def _(folder: Path) -> object:
    path = folder / "capture"
    path.write_bytes(PCAP)
    return native.TextRewriter(str(folder / "out"), "").open(str(path))


@refused("NotYet")
def _(folder: Path) -> object:
    path = folder / "trace"
    path.write_bytes(LINE % 1_000_000_000)
    return native.Trace(str(path)).counts()


@refused("Ended")
def _(folder: Path) -> object:
    writer = native.CaptureWriter(str(folder / "out"))
    writer.finish()
    return writer.finish()


@refused("ColumnError.Missing")
def _(_folder: Path) -> object:
    return native.LivesBuilder().update(without("time"))


@refused("ColumnError.Type")
def _(_folder: Path) -> object:
    return native.ScanCounter(1, []).update(operations(time=pa.array(["now"])))


@refused("ColumnError.Null")
def _(folder: Path) -> object:
    times = pa.nulls(1, OPERATIONS.field("time").type)
    return native.CaptureWriter(str(folder / "out")).write(operations(time=times))


@refused("TextWriteError.Host")
def _(_folder: Path) -> object:
    return native.TextWriter().write(operations(client=words("somebody")))


@refused("LivesError.Finished")
def _(_folder: Path) -> object:
    builder = native.LivesBuilder()
    builder.finish()
    return builder.update(operations())


def creates(since: int, until: int) -> pa.RecordBatch:
    """Return creates of files, a second apart, each with its reply."""
    rows = [
        {
            **CALL,
            "time": datetime.fromtimestamp(1e9 + second, UTC),
            "reply_time": datetime.fromtimestamp(1e9 + second, UTC),
            "xid": second,
            "op": "create",
            "status": 0,
            "fh": b"d",
            "name": b"%d" % second,
            "new_fh": b"f%d" % second,
            "ftype": 1,
        }
        for second in range(since, until)
    ]
    return pa.Table.from_pylist(rows, OPERATIONS).combine_chunks().to_batches()[0]


def spilled(most: int) -> native.LivesBuilder:
    """Return a builder with most of its lives in the temporary file."""
    builder = native.LivesBuilder(max_live=most)
    builder.update(creates(0, 2_000))
    return builder


@refused("SpillError.File")
def _(folder: Path) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder / "none"))
        return spilled(1)


def target(link: Path) -> str:
    """Return the target of a link, which may have vanished since it was listed."""
    try:
        return str(link.readlink())
    except OSError:
        return ""


def damage(spill: Path) -> bool:
    """Fill every record of a file with invalid content; return False if it has no records.

    A record is a byte, its length in four, and itself (native/tables/src/lives/spill.rs).
    """
    content, at = bytearray(spill.read_bytes()), 0
    while at + 5 <= len(content):
        begin = at + 5
        at = begin + int.from_bytes(content[at + 1 : begin], "little")
        content[begin:at] = b"\xff" * len(content[begin:at])
    if at != len(content):
        return False
    with spill.open("r+b") as file:
        file.write(content)
    return True


@refused("SpillError.Record")
def _(folder: Path) -> object:
    descriptors = Path("/proc/self/fd")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        builder = spilled(1)
    spills = [each for each in descriptors.iterdir() if str(folder) in target(each)]
    damaged = [spill for spill in spills if damage(spill)]
    assert damaged
    builder.finish()
    while builder.take_files().num_rows:
        pass
    return builder


def mapping() -> native.Mapping:
    return native.Mapping(prefix=False, handles=True, omit=[], seed=1)


@refused("AnonymizeError.Damaged")
def _(folder: Path) -> object:
    path = folder / "mapping"
    path.write_bytes(b"something else\n")
    return native.Mapping.read(str(path), prefix=False, handles=True, omit=[])


@refused("AnonymizeError.Mapped")
def _(_folder: Path) -> object:
    known = mapping()
    known.name(b"draft")
    return known.keep("name", b"draft")


@refused("AnonymizeError.Column")
def _(_folder: Path) -> object:
    return mapping().batch(pa.record_batch({"uid": ["root"]}), {"uid": "user"})


@refused("AnonymizeError.Arrow")
def _(_folder: Path) -> object:
    omitting = native.Mapping(prefix=False, handles=True, omit=["users"], seed=1)
    schema = pa.schema([pa.field("uid", pa.uint32(), nullable=False)])
    return omitting.batch(pa.record_batch([pa.array([0], pa.uint32())], schema), {"uid": "user"})


@refused("NoTreatment")
def _(_folder: Path) -> object:
    return mapping().batch(pa.record_batch({"uid": [1]}), {"uid": "kindly"})


def image(key: str = "HotName") -> bytes:
    return plain_image([key], [RulesSection([ImageRule(key, "last", b"lock", least=1)])])


@refused("ImageError.Truncated")
def _(_folder: Path) -> object:
    return native.Image(image()[:-1])


@refused("ImageError.NoImage")
def _(_folder: Path) -> object:
    return native.Image(bytes(100))


@refused("ImageError.Newer")
def _(_folder: Path) -> object:
    return native.Image(sealed(image(), VERSION_AT, 5))


@refused("ImageError.Older")
def _(_folder: Path) -> object:
    return native.Image(sealed(image(), VERSION_AT, 1))


@refused("ImageError.Trailing")
def _(_folder: Path) -> object:
    return native.Image(image() + b"\0")


@refused("ImageError.Checksum")
def _(_folder: Path) -> object:
    return native.Image(image()[:-1] + bytes([image()[-1] ^ 1]))


@refused("ImageError.Malformed")
def _(_folder: Path) -> object:
    return native.Image(sealed(image(), 36, 2))


@refused("ImageError.Costly")
def _(_folder: Path) -> object:
    return native.Image(sealed(image(), STEPS_AT, 1))


def answerer(point: str = "bounded") -> native.Answerer:
    return native.Answerer(image(), ("v", "rules", point), (native.Tally(), native.Tally()))


@refused("OtherPoint")
def _(_folder: Path) -> object:
    return answerer(point="exact")


@refused("OtherThresholds")
def _(_folder: Path) -> object:
    own = answerer()
    own.set_thresholds([("lock", 0, 1)])
    return own


NAMES = pa.array([b"a.b", b"c"], pa.binary())


def bounds(length: int) -> pa.Array:
    return pa.array([0.5] * length, pa.float64())


@refused("ComponentError.Rule")
def _(_folder: Path) -> object:
    return native.match_components(NAMES, pa.array([b"("], pa.binary()), False)


@refused("ComponentError.Bounds")
def _(_folder: Path) -> object:
    rules = pa.array([b"^a$"], pa.binary())
    return native.score_components(NAMES, rules, bounds(1), bounds(2), False)


@refused("ComponentError.Labels")
def _(_folder: Path) -> object:
    return native.count_components(NAMES, pa.record_batch({"size0": [True]}), False)


@refused("ComponentError.Long")
def _(_folder: Path) -> object:
    # an operator takes two bytes in each of two components: the whole name, and the first piece
    name = pa.py_buffer(b"+" * (2**31 // 4) + b".")
    ends = pa.py_buffer(struct.pack("<ii", 0, len(name)))
    names = pa.Array.from_buffers(pa.binary(), 1, [None, ends, name])
    return native.count_components(names, pa.record_batch({"size0": [True]}), False)


@refused("Type")
def _(_folder: Path) -> object:
    return native.fold_shapes(pa.array(["text"]))


def forest(**parts: Any) -> native.Forest:
    """Return a tree of one split, with the given parts replaced."""
    nodes: dict[str, Any] = {
        "columns": [0, 0xFFFF, 0xFFFF],
        "thresholds": [9, 0, 0],
        "targets": [2, 0, 1],
        "roots": [0],
        "scores": [0, 255],
        "outputs": 1,
        "width": 2,
        **parts,
    }
    types = {"columns": pa.uint16(), "targets": pa.uint32(), "roots": pa.uint32()}
    types |= {"thresholds": pa.uint8(), "scores": pa.uint8()}
    arrays = {name: pa.array(nodes.pop(name), kind) for name, kind in types.items()}
    return native.Forest(**arrays, **nodes)


@refused("ForestError.Root")
def _(_folder: Path) -> object:
    return forest(roots=[3])


@refused("ForestError.Column")
def _(_folder: Path) -> object:
    return forest(columns=[2, 0xFFFF, 0xFFFF])


@refused("ForestError.Child")
def _(_folder: Path) -> object:
    return forest(targets=[1, 0, 1])


@refused("ForestError.Scores")
def _(_folder: Path) -> object:
    return forest(targets=[2, 0, 2])


@refused("ForestError.Outputs")
def _(_folder: Path) -> object:
    return forest(scores=[0, 1, 2], outputs=2)


@refused("ForestError.Matrix")
def _(_folder: Path) -> object:
    return forest().sums(pa.array([1, 2, 3], pa.uint8()))


@refused("UnequalNodes")
def _(_folder: Path) -> object:
    return forest(thresholds=[9])


@refused("Nulls")
def _(_folder: Path) -> object:
    return forest(roots=[None])


def keeper() -> native.HistoryKeeper:
    return native.HistoryKeeper(1000)


def live_history() -> native.LiveHistory:
    return native.LiveHistory(native.HistoryKeeper(11), native.HistoryKeeper(11))


@refused("HistoryError.Few")
def _(_folder: Path) -> object:
    return native.HistoryKeeper(1)


@refused("NoSubject")
def _(_folder: Path) -> object:
    return live_history().history("directory")


@refused("SnapshotError.Other")
def _(folder: Path) -> object:
    (folder / "live").write_bytes(b"birthmark lives 0\n")
    return native.LiveHistory.load(folder / "live")


@refused("SnapshotError.Damaged")
def _(folder: Path) -> object:
    live_history().save(folder / "live")
    with (folder / "live").open("ab") as file:
        file.write(b"x")
    return native.LiveHistory.load(folder / "live")


@refused("HistoryError.Long")
def _(_folder: Path) -> object:
    return keeper().at(pa.record_batch([pa.nulls(2**32)], ["name"]))


@refused("HistoryError.Damaged")
def _(_folder: Path) -> object:
    schema = keeper().to_batch().schema
    nothing = {field.name: pa.nulls(1, field.type) for field in schema}
    return native.HistoryKeeper.from_batch(pa.record_batch(nothing), 1000, 0)


@refused("CertaintyError.Json")
def _(_folder: Path) -> object:
    return native.Certainty("{")


def described(probability: float, assignments: list[dict[str, list[bool]]]) -> str:
    keys = {"answers": ["no", "yes"], "probabilities": [None, probability], "follows": True}
    predicates = [{"key": key, **keys} for key in ("one", "other")]
    return json.dumps({"predicates": predicates, "worlds": assignments})


@refused("CertaintyError.Levels")
def _(_folder: Path) -> object:
    return native.Certainty(described(2, []))


@refused("CertaintyError.Assignments")
def _(_folder: Path) -> object:
    return native.Certainty(described(1, [{"one": [True, False], "other": [True]}]))


@refused("UnequalLevels")
def _(_folder: Path) -> object:
    return native.Certainty(described(1, [])).answer([pa.array([0], pa.uint8())])


@refused("Request")
def _(_folder: Path) -> object:
    return answerer().json(b'[{"nme": "a"}]')


@refused("NoKey")
def _(_folder: Path) -> object:
    return native.ScanCounter(1, ["weather"])


@refused("NoNumbers")
def _(_folder: Path) -> object:
    return native.ScanCounter(1, []).paths(pa.array(["a"]))


@refused("NoSocket")
def _(_folder: Path) -> object:
    return native.HttpService(service_settings()).accept(-1, False)


@refused("SharedHistoryError.Locked")
def _(folder: Path) -> object:
    return [native.SharedHistoryWriter(folder / "history", 1, 1, "") for _ in range(2)]


@refused("SharedHistoryError.Shared")
def _(folder: Path) -> object:
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    return native.SharedHistoryWriter(folder / "open" / "history", 1, 1, "")


@refused("SharedHistoryError.NotRegular")
def _(folder: Path) -> object:
    (folder / "history").mkdir()
    return native.SharedHistoryWriter(folder / "history", 1, 1, "")


@refused("SharedHistoryError.Room")
def _(folder: Path) -> object:
    return native.SharedHistoryWriter(folder / "history", 1 << 62, 1, "")


@refused("NoLimit")
def _(folder: Path) -> object:
    return native.SharedHistory(folder / "history", -1.0, 1.0, 1.0)


@refused("NoState")
def _(folder: Path) -> object:
    return native.SharedHistoryWriter(folder / "history", 1, 1, "").commit(0, 0.0, 0.0, "odd")


@refused("NoTime")
def _(_folder: Path) -> object:
    return native.HttpService(service_settings(idle_seconds=-1.0))


def service_settings(**changed: Any) -> Config:
    """Return the settings of a service's front."""
    return replace(config(Settings(), Path("application")), **changed)


@refused("SampleError.Empty")
def _(_folder: Path) -> object:
    return native.Sample(pa.array([], pa.uint8()), pa.array([], pa.bool_()), 0)


@refused("SampleError.Rows")
def _(_folder: Path) -> object:
    return native.Sample(pa.array([1, 2, 3], pa.uint8()), pa.array([True, False]), 2)


@refused.each()
def test_each_reason_is_raised_as_its_exception(reason: str, tmp_path: Path) -> None:
    refused.check(reason, tmp_path)


def test_every_reason_is_raised_here_but_for_defects() -> None:
    refused.check_completeness()
    raised = native.REASONS.items()
    assert {each for each, kind in raised if kind is native.DefectError} == DEFECTS - {"Decoder"}


def test_every_exception_is_an_error_and_a_builtin_with_a_description() -> None:
    kinds = {name: kind for name, kind in vars(native).items() if name.endswith("Error")}
    assert set(kinds) == {"Error", *BUILTINS}
    for name, builtin in BUILTINS.items():
        assert issubclass(kinds[name], native.Error)
        assert issubclass(kinds[name], builtin)
        assert kinds[name].__doc__
        assert kinds[name].__module__ == "birthmark_native"
    assert set(native.REASONS.values()) <= set(kinds.values())


def test_errors_of_the_system_are_os_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        native.Trace(str(tmp_path / "none"))
    assert (missing.value.errno, missing.value.filename) == (2, str(tmp_path / "none"))
    with pytest.raises(IsADirectoryError):
        native.Trace(str(tmp_path))
    with pytest.raises(OSError, match="No space left"):
        native.CaptureWriter("/dev/full").finish()
    with pytest.raises(OSError, match="No space left"):
        mapping().write("/dev/full", "settings")
