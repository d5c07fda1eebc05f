from __future__ import annotations

from pathlib import Path

import pytest

from data.datasets import read_files, read_names
from data.ingest import ingest
from data.schema import FILES, NAMES

CALL = "1003680000.004231 30.03fe 33.0801 U C3 5c1b2f05 0 null con = XXX len = XXX\n"


def test_a_trace_in_which_no_file_lived_makes_a_dataset_without_rows(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text(CALL)
    ingest([trace], tmp_path / "dataset")
    assert read_files(tmp_path / "dataset") == FILES.empty_table()
    assert read_names(tmp_path / "dataset") == NAMES.empty_table()


def test_a_directory_that_is_no_dataset_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"{tmp_path}: no dataset: expected .* files/"):
        read_files(tmp_path)
