"""Every reason for a refusal by the research folder's extension module."""

from __future__ import annotations

import json
from pathlib import Path

from birthmark.layout_hint.disks import read_drive
from birthmark.research import native
from birthmark.research.attached import NFS, System, serve
from birthmark.research.loads import read_load
from birthmark.research.papers.nfs_runs import LOCAL
from birthmark.research.papers.nfs_runs import run as run_benchmark
from tests.refusals import Refusals

refused = Refusals(native, set())


def validated(folder: Path, trace: str, **changes: object) -> object:
    (folder / "trace").write_text(trace)
    drive = read_drive("barracuda").parameters() | changes
    return native.storage_validate(folder / "trace", json.dumps(drive), "drive.toml")


def replayed(folder: Path, trace: str, issue: str = "open", format_: str | None = None) -> object:
    (folder / "trace").write_text(trace)
    asked = {
        "drive": read_drive("barracuda").parameters(),
        "sector_bytes": 512,
        "format": format_,
        "issue": {issue: {"faster": 1}},
        "order": "fcfs",
        "wrap": False,
    }
    return native.storage_replay(folder / "trace", json.dumps(asked), "drive.toml")


@refused("StorageJson")
def _(folder: Path) -> object:
    return native.storage_validate(folder / "trace", "{}", "drive.toml")


@refused("StorageStack")
def _(_folder: Path) -> object:
    drive = read_drive("barracuda").parameters()
    shape = read_load("P").shape(10) | {"streams": 0}
    asked = {"shape": shape, "seed": 1, "drive": drive, "runs": []}
    return native.storage_stack(json.dumps(asked))


@refused("Drive")
def _(folder: Path) -> object:
    return validated(folder, "R Hit 1 2 3 4", rpm=0)


@refused("BlockTraceError.Empty")
def _(folder: Path) -> object:
    return replayed(folder, "")


@refused("BlockTraceError.Line")
def _(folder: Path) -> object:
    return replayed(folder, "0,a,R,0,512\n0,a,R,0,0\n")


@refused("BlockTraceError.Unknown")
def _(folder: Path) -> object:
    return replayed(folder, "neither\n")


@refused("SrtError.Header")
def _(folder: Path) -> object:
    return replayed(folder, "no header\n", format_="srt")


@refused("SrtError.Record")
def _(folder: Path) -> object:
    return replayed(folder, "sectorsize = 512,\fnone", format_="srt")


@refused("ReplayError.Outside")
def _(folder: Path) -> object:
    return replayed(folder, "0,a,R,9999999999999,512\n")


@refused("ReplayError.Untimed")
def _(folder: Path) -> object:
    return replayed(folder, "0,a,R,0,512\n", "dependent")


@refused("ReplayError.Empty")
def _(folder: Path) -> object:
    return replayed(folder, "time,stream,rw,byte,length\n")


@refused("AuspexError.Line")
def _(folder: Path) -> object:
    (folder / "trace").write_text("neither\n")
    return serve(System(), folder / "trace")


@refused("AttachedError.Value")
def _(_folder: Path) -> object:
    return serve(System(disks=0), NFS, requests=1)


@refused("StorageSetup")
def _(_: Path) -> object:
    return run_benchmark("ide", 1, LOCAL, partition=5)


@refused("MeasuredError.Line")
def _(folder: Path) -> object:
    return validated(folder, "R Hit 1 2 3")


@refused("MeasuredError.Empty")
def _(folder: Path) -> object:
    return validated(folder, "")


@refused("LoopError.Outside")
def _(folder: Path) -> object:
    return validated(folder, "R Hit 4110000 1 3 4")


@refused("LoopError.Late")
def _(folder: Path) -> object:
    return validated(folder, "R Hit 1 2 3 86400000000\n" * 60_000)


@refused.each()
def test_each_reason_is_raised_as_its_exception(reason: str, tmp_path: Path) -> None:
    refused.check(reason, tmp_path)


def test_every_reason_is_raised_here_but_for_defects() -> None:
    refused.check_completeness()
