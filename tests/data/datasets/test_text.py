from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from birthmark.data.datasets import as_text, read_files, read_names, read_table, with_text
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.data.schema import FILES, OPERATIONS

NAMES = [b"thesis.tex", "Übung".encode(), b"\xff.html", b"a\nb", None, b"thesis.tex"]
TEXTS = ["thesis.tex", "Übung", "\\xff.html", "a\\nb", None, "thesis.tex"]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text") / "day"
    ingest([str(DAYS[0])], folder)
    return folder


def test_names_are_there_as_text_beside_their_bytes() -> None:
    table = with_text(pa.table({"name": pa.array(NAMES, pa.binary()), "size": range(6)}))
    assert table.column_names == ["name", "name_text", "size"]
    assert table["name"].to_pylist() == NAMES
    assert table["name_text"].to_pylist() == TEXTS
    assert with_text(table).equals(table)


def test_every_column_of_names_has_its_text_and_handles_have_none() -> None:
    names = with_text(OPERATIONS.empty_table()).column_names
    texts = [name for name in names if name.endswith("_text") and name not in OPERATIONS.names]
    assert {"name_text", "name2_text", "target_text", "owner_name_text"} <= set(texts)
    assert not {"fh_text", "dir_fh_text", "cookie_verifier_text"} & set(texts)


def test_a_table_for_csv_has_no_bytes() -> None:
    handles = pa.array([b"\x01\xff", *[None] * 5], pa.binary())
    table = pa.table({"name": pa.array(NAMES, pa.binary()), "fh": handles, "size": range(6)})
    text = as_text(table)
    assert text.column_names == ["name", "fh", "size"]
    assert text["name"].to_pylist() == TEXTS
    assert text["fh"].to_pylist() == ["01ff", *[None] * 5]
    assert "b'" not in text.to_pandas().to_csv()


def test_a_dataset_is_read_into_pandas_with_text(day: Path) -> None:
    files = read_files(day, text=True)
    assert files.drop_columns(["name_text", "dir_name_text"]).equals(read_files(day))
    frame = files.to_pandas()
    locks = frame[frame["name_text"].str.endswith(".lock", na=False)]
    assert len(locks)
    assert all(name.endswith(b".lock") for name in locks["name"])
    names = read_names(day, text=True).to_pandas()
    assert pd.api.types.is_string_dtype(names["name_text"])
    asked = read_table(day, "operations", columns=["op", "name"], text=True)
    assert asked.column_names == ["op", "name", "name_text"]


def test_a_table_without_rows_has_the_columns_too(tmp_path: Path) -> None:
    (tmp_path / "day.txt").write_text(
        "1.0 31.03f7 30.0801 U C3 1 1 getattr fh 01 con = XXX len = XXX\n"
    )
    ingest([tmp_path / "day.txt"], tmp_path / "day")
    found = read_table(tmp_path / "day", "messages", text=True)
    assert found.column_names == read_table(tmp_path / "day", "messages").column_names
    assert "name_text" in read_names(tmp_path / "day", text=True).column_names
    assert with_text(FILES.empty_table()).num_columns == len(FILES) + 2


def test_polars_takes_it_as_text(day: Path) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(read_files(day, text=True))
    found = frame.filter(polars.col("name_text").str.ends_with(".lock"))
    assert found.height > 0
    assert found["name_text"].dtype == polars.String
