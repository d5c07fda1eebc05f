"""Marks of generated data survive anonymization, and carry nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from birthmark.data.anonymize import anonymize
from birthmark.data.generated import in_dataset
from birthmark.data.ingest.run import ingest
from birthmark.data.traces.reader import open_trace
from tests.data.anonymize.secret import TEXT
from tests.generated import write

WORKLOAD = {"name": "campus", "seed": 7, "start": "2001-10-22", "days": 0.02, "rate": 0.01}
MARK = {"name": "campus", "seed": 7}
HEADING = '# generated {"name": "campus", "seed": 7}\n'


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_the_first_line_of_a_generated_text_stays(tmp_path: Path, suffix: str) -> None:
    write(WORKLOAD, tmp_path / "trace.txt")
    out = tmp_path / f"out{suffix}"
    summary = anonymize([str(tmp_path / "trace.txt")], str(out), tmp_path / "mapping")
    assert open_trace(out).generated == MARK
    assert summary.generated == [MARK]
    assert (summary.comments_dropped, summary.records_in) == (0, summary.records_out)


def test_the_mark_comes_first_though_its_text_does_not(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("# a remark\n" + TEXT)
    for name in ("made.txt", "more.txt"):
        (tmp_path / name).write_text(HEADING + TEXT)
    inputs = [str(tmp_path / name) for name in ("real.txt", "made.txt", "more.txt")]
    summary = anonymize(inputs, str(tmp_path / "out.txt"), tmp_path / "mapping")
    lines = (tmp_path / "out.txt").read_text().splitlines(keepends=True)
    assert [line for line in lines if line.startswith("#")] == lines[:1] == [HEADING]
    assert summary.records_out == len(lines)
    assert summary.records_in == summary.records_out + summary.comments_dropped


def test_standard_input_keeps_its_mark(tmp_path: Path) -> None:
    options = ["--mapping", str(tmp_path / "mapping"), "--out", "-"]
    command = [sys.executable, "-m", "birthmark", "anonymize", "-", *options]
    made = subprocess.run(command, input=HEADING + TEXT, capture_output=True, text=True, check=True)
    assert made.stdout.startswith(HEADING)
    assert made.stdout.count("#") == 1 + TEXT.count("#")
    assert made.stderr.startswith("generated: campus, seed 7\n")


def test_a_mark_hides_nothing(tmp_path: Path) -> None:
    mark = {"name": "alice", "seed": "bob", "at": "carol"}
    (tmp_path / "a.txt").write_text(f"# generated {json.dumps(mark)}\n{TEXT}")
    anonymize([str(tmp_path / "a.txt")], str(tmp_path / "b.txt"), tmp_path / "mapping")
    heading = (tmp_path / "b.txt").read_text().splitlines()[0]
    assert heading == '# generated {"name": "unknown", "seed": 0}'


@pytest.mark.parametrize("kind", ["parquet", "pcap", "dataset"])
def test_a_dataset_keeps_the_mark(tmp_path: Path, kind: str) -> None:
    trace = tmp_path / f"trace.{kind}"
    if kind == "dataset":
        write(WORKLOAD, tmp_path / "trace.parquet")
        ingest([tmp_path / "trace.parquet"], trace)
    else:
        write(WORKLOAD, trace)
    summary = anonymize([str(trace)], str(tmp_path / "out"), tmp_path / "mapping")
    assert in_dataset(tmp_path / "out") == summary.generated == [MARK]
