"""Parallel tests of a model: a task for each kind in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
from joblib import delayed

from birthmark.data.common import durable
from birthmark.predictor import TrainedModel
from birthmark.training.engine import current

Tables = Mapping[str, pa.Table]

Test = Callable[[TrainedModel, pa.Table, pa.Table, int], Tables]
"""Tests a model on a period's files and names, with a seed; returns tables by name."""


def by_kind(
    test: Test, model: TrainedModel, files: pa.Table, names: pa.Table, seed: int
) -> list[Tables]:
    """Run `test` on each kind in `model`; return the results in their order."""
    workers = current()
    if workers.alone:
        return [test(model, files, names, seed)]
    with workers.scratch() as scratch:
        (scratch / "model").mkdir()
        model.save(scratch / "model")
        for name, table in (("files", files), ("names", names)):
            _write(scratch / f"{name}.arrow", table)
        workers.run(delayed(_test)(scratch, kind, test, seed) for kind in model.kinds)
        return [_read_all(scratch / kind) for kind in model.kinds]


def _test(scratch: Path, kind: str, test: Test, seed: int) -> None:
    def write(out: Path) -> None:
        model = TrainedModel.load(scratch / "model", counts=False, estimators=True)
        model.models = {kind: model.models[kind]}
        tables = test(model, _read(scratch / "files.arrow"), _read(scratch / "names.arrow"), seed)
        out.mkdir()
        for name, table in tables.items():
            _write(out / f"{name}.arrow", table)

    durable.made(scratch / kind, write)


def _write(path: Path, table: pa.Table) -> None:
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table.unify_dictionaries())


def _read(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as reader:
        return reader.read_all()


def _read_all(folder: Path) -> dict[str, pa.Table]:
    return {path.stem: _read(path) for path in sorted(folder.glob("*.arrow"))}
