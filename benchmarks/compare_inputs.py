"""Inputs of ``benchmarks.compare``: the same files for both commits."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.repeat import make
from benchmarks.serving import FILE, HERE, in_arrow, names, request
from birthmark.data.samples import DAYS
from birthmark.data.traces import open_trace, write_capture


def write_inputs(folder: Path, size: int) -> None:
    """Write traces of about ``size`` bytes, days, requests and a client, unless they are there.

    The traces are the bundled day again and again, as gzipped text and as a capture.
    """
    done = folder / f"of-{size}-bytes"
    if done.exists():
        return
    folder.mkdir(exist_ok=True)
    for name, day in zip(("day1", "day2"), DAYS, strict=True):
        shutil.copyfile(day, folder / f"{name}.parquet")
    write_traces(folder, size)
    write_requests(folder)
    subprocess.run(["cc", "-O2", "-o", folder / "load", HERE / "load.c"], check=True)
    done.touch()


def write_traces(folder: Path, size: int) -> None:
    """Write ``trace.txt.gz`` and ``trace.pcap``."""
    text, capture = folder / "day.txt", folder / "day.pcap"
    command = [sys.executable, "-m", "birthmark", "dump", "--from", "operations"]
    subprocess.run([*command, str(DAYS[0]), "--out", str(text)], check=True)
    write_capture(open_trace(DAYS[0]), capture, cut_data=True)
    make(text, folder / "trace.txt", size)
    make(capture, folder / "trace.pcap", size)
    with (folder / "trace.txt").open("rb") as plain, gzip.open(folder / "trace.txt.gz", "wb") as to:
        shutil.copyfileobj(plain, to)
    for path in (text, capture, folder / "trace.txt"):
        path.unlink()


def write_requests(folder: Path) -> None:
    """Write HTTP requests: a hint, and batches in JSON and in Arrow."""
    many = [{**FILE, "name": name} for name in names(1_000)]
    requests = {
        "hint": request("/v1/hints", json.dumps(FILE).encode()),
        "json": request("/v1/predictions", json.dumps(many).encode()),
        "arrow": request("/v1/predictions", in_arrow(names(10_000)), "arrow"),
    }
    for name, content in requests.items():
        (folder / f"{name}.http").write_bytes(content)
