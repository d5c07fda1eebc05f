"""Every column has a treatment: a new one cannot leave the site unthought of."""

from __future__ import annotations

import pyarrow as pa
import pytest

from birthmark.data import schema
from birthmark.data.anonymize import treatments
from birthmark.data.anonymize.columns import COLUMNS, leaves
from birthmark.data.datasets.tables import TABLES

SCHEMAS = {name: each for name, each in vars(schema).items() if isinstance(each, pa.Schema)}


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_every_column_of_every_table_has_a_declared_treatment(name: str) -> None:
    undeclared = [column for column, _ in leaves(SCHEMAS[name]) if column not in COLUMNS]
    assert undeclared == []


def test_all_tables_of_a_dataset_are_among_them() -> None:
    assert all(each in SCHEMAS.values() for each in TABLES.values())
    assert len(SCHEMAS) >= 3


@pytest.mark.parametrize("kind", [pa.uint32(), pa.binary(), pa.utf8(), schema.WORD])
def test_a_column_that_is_not_declared_is_refused(kind: pa.DataType) -> None:
    with pytest.raises(ValueError, match="column surname: expected its treatment"):
        treatments(pa.schema([pa.field("time", pa.int64()), pa.field("surname", kind)]))


def test_a_field_in_a_list_is_not_overlooked() -> None:
    entries = pa.list_(pa.struct([pa.field("name", pa.binary()), pa.field("surname", pa.binary())]))
    with pytest.raises(ValueError, match=r"column entries\.surname"):
        treatments(pa.schema([pa.field("entries", entries)]))


def test_ids_names_hosts_and_handles_are_not_kept() -> None:
    """Every column with the name or meaning of a person or machine is mapped."""
    words = ("owner", "group", "uid", "gid", "name", "fh", "server", "client", "machine", "target")
    unchanged = [column for column, treatment in COLUMNS.items() if treatment == "keep"]
    harmless = {"server_port", "client_port", "client_id", "fs_name_max"}
    found = [
        column for column in unchanged if set(words) & set(column.replace(".", "_").split("_"))
    ]
    assert set(found) - harmless == set()
