"""A dataset consists of the files that its ingest records name, and of nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birthmark.data.anonymize import anonymize
from birthmark.data.datasets import ingests
from birthmark.data.datasets.tables import TABLES, read_table
from birthmark.data.dump.tables import TablesDump
from birthmark.data.ingest.run import ingest
from birthmark.data.scan.sources import Source
from tests.data.ingest.test_run import create
from tests.waiting import eventually

NOON = 1_000_000_000 - 1_000_000_000 % 86_400
INGEST = [sys.executable, "-m", "birthmark", "ingest"]
Read = Callable[[Path], Any]


@pytest.fixture
def days(tmp_path: Path) -> list[Path]:
    """Return the traces of two days."""
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for number, path in enumerate(paths):
        path.write_text(create(NOON + 86_400 * number, 1) + "XX Funny line (1)\n")
    return paths


def rows(dataset: Path) -> dict[str, int]:
    return {table: read_table(dataset, table).num_rows for table in TABLES}


def files(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def without_files_named(dataset: Path) -> None:
    """Rewrite a dataset's records in the form before they named files."""
    for path in (dataset / "ingests").iterdir():
        record = json.loads(path.read_text())
        del record["written"]
        path.write_text(json.dumps(record))


def test_two_simultaneous_ingests_are_both_complete(days: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    with subprocess.Popen([*INGEST, "-", "--out", out], stdin=subprocess.PIPE) as first:
        assert first.stdin
        assert eventually(lambda: list(out.glob(".ingest-*")) != [])
        with subprocess.Popen([*INGEST, days[1], "--out", out], stderr=subprocess.PIPE) as second:
            assert second.stderr
            assert second.stderr.readline().decode() == (
                f"{out}: another process is writing there; waiting for it\n"
            )
            first.stdin.write(days[0].read_bytes())
            first.stdin.close()
    assert (first.returncode, second.returncode) == (0, 0)
    traces = [record["traces"][0]["path"] for record in ingests.records(out).values()]
    assert traces == ["-", str(days[1])]
    ingest([days[0]], tmp_path / "first")
    ingest([days[1]], tmp_path / "second")
    one, two = rows(tmp_path / "first"), rows(tmp_path / "second")
    assert rows(out) == {table: one[table] + two[table] for table in TABLES}


def test_an_ingest_leaves_nothing_but_what_it_names(days: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    ingest([days[0]], out)
    found = {path.relative_to(out).as_posix() for path in files(out)}
    assert found == {*ingests.records(out)["0001"]["written"], "ingests/0001.json"}


def anonymized(dataset: Path) -> int:
    return anonymize([str(dataset)], f"{dataset}-public", dataset.with_name("map")).records_in


@pytest.mark.parametrize(
    "read",
    [
        rows,
        anonymized,
        lambda dataset: b"".join(TablesDump(dataset)),
        lambda dataset: [batch.num_rows for batch in Source(str(dataset), ["time"])],
    ],
    ids=["tables", "anonymize", "dump", "scan"],
)
def test_files_that_no_record_names_are_not_read(
    read: Read, days: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ingest([days[0]], out)
    before = read(out)
    ingest([days[1]], out)
    assert read(out) != before
    (out / "ingests" / "0002.json").unlink()
    assert read(out) == before


def test_a_record_that_names_no_files_stands_for_those_of_its_number(
    days: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for day in days:
        ingest([day], out)
    before = rows(out)
    without_files_named(out)
    assert rows(out) == before
    ingest([days[0]], out)
    assert rows(out)["operations"] == before["operations"] + 1


def test_a_file_that_is_gone_is_named(days: list[Path], tmp_path: Path) -> None:
    ingest([days[0]], tmp_path / "out")
    (gone,) = (tmp_path / "out" / "operations").rglob("*.parquet")
    gone.unlink()
    expected = rf"{gone}: missing, although ingests/0001\.json lists it"
    with pytest.raises(FileNotFoundError, match=expected):
        read_table(tmp_path / "out", "operations")
    assert read_table(tmp_path / "out", "names").num_rows == 1


def test_a_damaged_record_is_named(days: list[Path], tmp_path: Path) -> None:
    ingest([days[0]], tmp_path / "out")
    record = tmp_path / "out" / "ingests" / "0001.json"
    record.write_text(record.read_text()[:100])
    with pytest.raises(ValueError, match=rf"{record}: expected the record of an ingest"):
        read_table(tmp_path / "out", "operations")


@pytest.mark.parametrize("name", ["../precious", "/precious"])
def test_files_outside_the_dataset_are_never_removed(
    name: str, days: list[Path], tmp_path: Path
) -> None:
    left = tmp_path / "out" / ".ingest-0001"
    left.mkdir(parents=True)
    (left / "record.json").write_text(json.dumps({"written": [name]}))
    (tmp_path / "precious").touch()
    with pytest.raises(ValueError, match=rf"{left}/record\.json: expected .* found {name}"):
        ingest([days[0]], tmp_path / "out")
    assert (tmp_path / "precious").exists()


def test_no_file_is_written_over_though_its_record_is_gone(
    days: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ingest([days[0]], out)
    (out / "ingests" / "0001.json").unlink()
    before = files(out)
    ingest([days[0]], out)
    assert list(ingests.records(out)) == ["0002"]
    assert before.items() <= files(out).items()


@pytest.mark.parametrize("trace", ["nowhere.txt", "photo.jpg"])
def test_a_refused_ingest_leaves_no_directory_that_it_made(trace: str, tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    with pytest.raises((OSError, ValueError), match=trace):
        ingest([tmp_path / trace], tmp_path / "new" / "days" / "1")
    assert not (tmp_path / "new").exists()


def test_a_refused_ingest_leaves_a_directory_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "days").mkdir()
    with pytest.raises(OSError, match=r"nowhere\.txt"):
        ingest([tmp_path / "nowhere.txt"], tmp_path / "days")
    assert list((tmp_path / "days").iterdir()) == []


def test_where_a_move_fails_those_before_it_are_undone(days: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "operations").write_text("no directory")
    with pytest.raises(OSError, match="operations"):
        ingest([days[0]], out)
    assert [path.name for path in out.iterdir()] == ["operations"]


def test_all_is_on_the_disk_before_the_record_is_in_its_place(
    days: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test cannot cut the power, so it records what is flushed before each rename."""
    done: list[tuple[str, Path]] = []
    sync, replace = ingests.durable.sync, Path.replace

    def synced(path: Path) -> None:
        done.append(("sync", path))
        sync(path)

    def replaced(path: Path, target: Path) -> Path:
        done.append(("move", target))
        assert path.name == "record.json" or path.is_dir() or ("sync", path) in done, path
        return replace(path, target)

    monkeypatch.setattr(ingests.durable, "sync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    out = tmp_path / "new" / "out"
    ingest([days[0]], out)
    last = done.index(("move", out / "ingests" / "0001.json"))
    moves = [at for at, (what, _) in enumerate(done[:last]) if what == "move"]
    folders = {path for what, path in done[moves[-1] : last] if what == "sync"}
    written = ingests.records(out)["0001"]["written"]
    assert folders >= {above for name in written for above in (out / name).parents if above >= out}
