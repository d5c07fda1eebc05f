"""Forests as tables: a row per node and per leaf, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Floats
from birthmark.data.schema import field
from birthmark.features.encoding import CODES, COLUMNS, Encoding
from birthmark.predictor import parts
from birthmark.predictor.models.forest.forest import LEAF, Forest
from birthmark.predictor.models.forest.support import NO_SUPPORT, SUPPORT, Support

NODES = pa.schema(
    [
        field("forest", pa.uint16(), "the forest's number", nullable=False),
        field("tree", pa.uint16(), "the tree's number in it", nullable=False),
        field("column", pa.uint16(), "the byte of a row that decides; a leaf: null"),
        field("threshold", pa.uint8(), "its largest value that goes to the next node"),
        field("target", pa.uint32(), "others' node, or a leaf's scores", nullable=False),
        field("rows", pa.uint32(), "training rows in a leaf; else 0", nullable=False),
    ]
)
"""The nodes of all forests, in the order of ``predictor.models.forest.forest.Forest``."""

SCORES = pa.schema(
    [
        field("forest", pa.uint16(), "the forest's number", nullable=False),
        field(
            "scores", pa.binary(), "a byte per output: share of yes, 255 for all", nullable=False
        ),
    ]
)
"""The scores of leaves; equal rows are stored once."""

CODED = pa.schema([field("encoding", pa.uint16(), "its number", nullable=False), *CODES])

_FILES = {"nodes": NODES, "scores": SCORES, "codes": CODED}
_FILE = "forest.json"
_SUPPORT = "forest-support.arrow"


class SharedForest(NamedTuple):
    """A forest, its encoding, the keys of its outputs in order, and the counts of training rows."""

    keys: tuple[str, ...]
    encoding: Encoding
    forest: Forest
    support: Support = NO_SUPPORT


def write_forests(directory: parts.Part, shared: Sequence[SharedForest]) -> list[str]:
    """Write forests to files in ``directory``; return the files' names."""
    encodings = list({id(entry.encoding): entry.encoding for entry in shared}.values())
    numbers = {id(encoding): number for number, encoding in enumerate(encodings)}
    forests = [entry.forest for entry in shared]
    tables = {
        "nodes": [_nodes(number, forest) for number, forest in enumerate(forests)],
        "scores": [_scores(number, forest) for number, forest in enumerate(forests)],
        "codes": [_numbered("encoding", n, e.to_table(), CODED) for n, e in enumerate(encodings)],
    }
    for name, schema in _FILES.items():
        whole = pa.concat_tables([schema.empty_table(), *tables[name]])
        parts.write_table(directory / f"forest-{name}.arrow", whole)
    content = {
        "columns": list(COLUMNS),
        "known": True,
        "forests": [
            {
                "keys": list(entry.keys),
                "encoding": numbers[id(entry.encoding)],
                "unit": entry.forest.unit,
                "base": entry.forest.base.tolist(),
            }
            for entry in shared
        ],
    }
    parts.write_json(directory / _FILE, content)
    support = [entry.support.to_table(number) for number, entry in enumerate(shared)]
    parts.write_table(directory / _SUPPORT, pa.concat_tables([SUPPORT.empty_table(), *support]))
    return [_FILE, _SUPPORT, *(f"forest-{name}.arrow" for name in _FILES)]


def read_forests(directory: parts.Part, keys: Iterable[str]) -> list[SharedForest]:
    """Return the forests of ``keys`` that were written to ``directory``.

    Forests of an older version have no counts of training rows. Raises
    ``predictor.parts.DamagedModelError`` if a file is damaged, or the rows of bytes had other
    columns.
    """
    described = _described(directory / _FILE, list(keys))
    support = _read_support(directory, described)
    tables = {n: parts.read_table(directory / f"forest-{n}.arrow", s) for n, s in _FILES.items()}
    try:
        count = 1 + max((entry.encoding for entry in described), default=-1)
        encodings = [
            Encoding.from_table(_of("encoding", number, tables["codes"])) for number in range(count)
        ]
    except ValueError as error:
        raise parts.DamagedModelError(directory / "forest-codes.arrow", str(error)) from error
    try:
        return [
            SharedForest(
                entry.keys,
                encodings[entry.encoding],
                _forest(number, entry, tables),
                support[number],
            )
            for number, entry in enumerate(described)
        ]
    except ValueError as error:
        raise parts.DamagedModelError(
            directory / "forest-nodes.arrow", f"the nodes of trees ({error})"
        ) from error


class _Description(NamedTuple):
    keys: tuple[str, ...]
    encoding: int
    unit: float
    base: Floats


def _read_support(directory: parts.Part, described: Sequence[_Description]) -> list[Support]:
    if not parts.read_json(directory / _FILE).get("known"):
        return [NO_SUPPORT] * len(described)
    path = directory / _SUPPORT
    table = parts.read_table(path, SUPPORT)
    try:
        return [
            Support.from_table(_of("forest", number, table), len(entry.keys))
            for number, entry in enumerate(described)
        ]
    except ValueError as error:
        raise parts.DamagedModelError(path, str(error)) from error


def _described(path: parts.Part, keys: list[str]) -> list[_Description]:
    content = parts.read_json(path)
    if content.get("columns") != list(COLUMNS):
        raise parts.DamagedModelError(path, f"rows of the {len(COLUMNS)} columns used now")
    try:
        forests = [
            _Description(
                tuple(map(str, forest["keys"])),
                int(forest["encoding"]),
                float(forest["unit"]),
                np.array(forest["base"], dtype=np.float64),
            )
            for forest in content["forests"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise parts.DamagedModelError(path, f"a description of forests ({error!r})") from error
    if sorted(key for forest in forests for key in forest.keys) != sorted(keys):
        raise parts.DamagedModelError(path, f"one forest for each of {', '.join(keys)}")
    if any(not 0 <= forest.encoding < len(forests) for forest in forests):
        raise parts.DamagedModelError(path, "the numbers of encodings")
    return forests


def _nodes(number: int, forest: Forest) -> pa.Table:
    leaf = forest.column == LEAF
    tree = np.searchsorted(forest.roots, np.arange(len(leaf)), side="right") - 1
    root = forest.roots[tree]
    columns: dict[str, Any] = {
        "tree": tree,
        "column": pa.array(forest.column, mask=leaf),
        "threshold": pa.array(forest.threshold, mask=leaf),
        "target": np.where(leaf, forest.target, forest.target - root),
        "rows": forest.rows,
    }
    return _numbered("forest", number, pa.table(columns), NODES)


def _scores(number: int, forest: Forest) -> pa.Table:
    rows = [row.tobytes() for row in forest.scores]
    return _numbered("forest", number, pa.table({"scores": pa.array(rows, pa.binary())}), SCORES)


def _numbered(name: str, number: int, table: pa.Table, schema: pa.Schema) -> pa.Table:
    numbers = pa.array(np.full(len(table), number, dtype=np.uint16))
    return table.add_column(0, schema.field(name), numbers).cast(schema)


def _of(name: str, number: int, table: pa.Table) -> pa.Table:
    return table.filter(pc.equal(table[name], number)).drop_columns(name).combine_chunks()


def _forest(number: int, entry: _Description, tables: dict[str, pa.Table]) -> Forest:
    nodes, scores = (_of("forest", number, tables[name]) for name in ("nodes", "scores"))
    flat, outputs = b"".join(scores["scores"].to_pylist()), len(entry.keys)
    if len(flat) != outputs * len(scores):
        raise ValueError(f"scores for {outputs} outputs")
    column = nodes["column"].fill_null(LEAF).to_numpy()
    tree = nodes["tree"].to_numpy().astype(np.int64)
    if len(tree) and (tree[0] != 0 or not np.isin(np.diff(tree), (0, 1)).all()):
        raise ValueError("the trees are not in order")
    roots = np.flatnonzero(np.diff(tree, prepend=-1)).astype(np.uint32)
    target = nodes["target"].to_numpy().astype(np.uint64)
    target[column != LEAF] += roots[tree][column != LEAF]
    if np.any(target >= 2**32):
        raise ValueError("a node's target is not in its tree")
    return Forest(
        column,
        nodes["threshold"].fill_null(0).to_numpy(),
        target.astype(np.uint32),
        nodes["rows"].to_numpy(),
        roots,
        np.frombuffer(flat, dtype=np.uint8).reshape(-1, outputs),
        len(COLUMNS),
        entry.unit,
        entry.base,
    )
