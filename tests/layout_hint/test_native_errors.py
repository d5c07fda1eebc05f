"""Every reason for a refusal by the layout hint's extension module."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

import birthmark_native as core
from birthmark.layout_hint import native
from birthmark.layout_hint.disks import read_drive
from birthmark.layout_hint.rewrite.schema import MANIFEST
from birthmark.layout_hint.rewrite.schema import OPERATIONS as REPLAYED
from birthmark.predictor.image.format import plain_image
from birthmark.predictor.image.rules import ImageRule, RulesSection
from tests.refusals import Refusals

DEFECTS = {
    "LayoutError.Arrow",
    "LayoutError.Space",  # the checks of the sizes leave room for it
}
refused = Refusals(native, DEFECTS, elsewhere={*core.REASONS} & {*native.REASONS})
SIZE = 1 << 30


def image(key: str = "HotName") -> bytes:
    return plain_image([key], [RulesSection([ImageRule(key, "last", b"lock", 1)])])


def replay(operations: list[dict[str, Any]] | None = None) -> native.LayoutTrace:
    rows = pa.Table.from_pylist(operations or [], REPLAYED).to_batches()
    return native.LayoutTrace(pa.Table.from_pylist([], MANIFEST).to_batches(), rows)


@refused("Refused.NoHint")
def _(_folder: Path) -> object:
    return native.Hook(image=image("size0"))


@refused("Refused.Oversize")
def _(_folder: Path) -> object:
    return native.Hook(image=bytes((16 << 20) + 1))


@refused("NoKernel")
def _(_folder: Path) -> object:
    return native.layout_geometry("linux", SIZE)


@refused("LayoutError.Bytes")
def _(_folder: Path) -> object:
    return native.layout_geometry("freebsd48", 1 << 60)


@refused("Geometry")
def _(_folder: Path) -> object:
    return native.layout_geometry("freebsd48", 100)


@refused("RegionError.Beyond")
def _(_folder: Path) -> object:
    return native.layout_region("freebsd48", SIZE, 0, 2 * SIZE, 0)


@refused("RegionError.Groups")
def _(_folder: Path) -> object:
    return native.layout_region("freebsd48", SIZE, 0, SIZE - 1, 0)


@refused("RegionError.Empty")
def _(_folder: Path) -> object:
    return native.layout_region("freebsd48", SIZE, 1 << 20, 1, 0)


@refused("RegionError.Inodes")
def _(_folder: Path) -> object:
    return native.layout_region("freebsd48", SIZE, 0, 1 << 22, 1 << 30)


@refused("RegionError.Unmade")
def _(_folder: Path) -> object:
    return native.layout_region("freebsd14", SIZE, 1 << 20, 1 << 20, 0)


@refused("LayoutError.Column")
def _(_folder: Path) -> object:
    return native.LayoutTrace([pa.record_batch({"id": [1]})], [])


@refused("LayoutError.Allocator")
def _(_folder: Path) -> object:
    return replay([]).run('{"allocator": "nothing"}', None, None)


@refused("LayoutError.Row")
def _(_folder: Path) -> object:
    create = {"seq": 0, "time": 0, "op": "create", "status": 0, "id": 0, "new_id": 1}
    return replay([create | {"name": b"a/b"}])


@refused("Json")
def _(_folder: Path) -> object:
    return replay().run("{")


@refused("NoVerdicts")
def _(_folder: Path) -> object:
    return replay().run("{}", pa.array([1], pa.uint8()))


@refused("TwoSources")
def _(_folder: Path) -> object:
    return replay().run("{}", pa.array([], pa.uint8()), image())


@refused("Recording")
def _(folder: Path) -> object:
    path = folder / "recording"
    path.write_text("something else\n")
    return native.check_recording(path)


@refused("StorageJson")
def _(_folder: Path) -> object:
    return native.check_drive("{}", "drive.toml")


@refused("Drive")
def _(_folder: Path) -> object:
    drive = read_drive("barracuda").parameters() | {"rpm": 0}
    return native.check_drive(json.dumps(drive), "drive.toml")


@refused.each()
def test_each_reason_is_raised_as_its_exception(reason: str, tmp_path: Path) -> None:
    refused.check(reason, tmp_path)


def test_every_reason_is_raised_here_but_for_defects() -> None:
    refused.check_completeness()
