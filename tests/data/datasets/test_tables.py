"""Tests also data/datasets/row_groups.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.schema import FILES, NAMES

CALL = "1003680000.004231 30.03fe 33.0801 U C3 5c1b2f05 0 null con = XXX len = XXX\n"


def test_a_trace_in_which_no_file_lived_makes_a_dataset_without_rows(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text(CALL)
    ingest([trace], tmp_path / "dataset")
    assert read_files(tmp_path / "dataset") == FILES.empty_table()
    assert read_names(tmp_path / "dataset") == NAMES.empty_table()


def test_others_than_owner_and_group_see_nothing_of_a_dataset(tmp_path: Path) -> None:
    """The quarantine is in the dataset, so it is protected, too."""
    trace = tmp_path / "trace.txt"
    trace.write_text(CALL + "1003680000.1 no record\n")
    ingest([trace], tmp_path / "dataset")
    assert list((tmp_path / "dataset" / "quarantine").iterdir())
    assert (tmp_path / "dataset").stat().st_mode & 0o007 == 0
    (tmp_path / "dataset").chmod(0o755)
    ingest([trace], tmp_path / "dataset")
    assert (tmp_path / "dataset").stat().st_mode & 0o777 == 0o755, "its owner chose so"


def test_a_directory_that_is_no_dataset_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"{tmp_path}: no dataset: expected .* ingests/"):
        read_files(tmp_path)
