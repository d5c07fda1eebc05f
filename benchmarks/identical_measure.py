"""Writes what one commit answers; ``benchmarks.identical`` hands this to each commit's Python.

    python -P identical_measure.py LEARN ASK SCRATCH

Both are traces: the commit trains on the first with its default settings, and answers about the
files created in the second. Printed is a JSON object of digests. Older commits lack much of what
there is here, so this imports only what has stayed where it is.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

BIRTHMARK = [sys.executable, "-m", "birthmark"]
TABLES = ("operations", "files", "names")
POINTS = ("accurate", "bounded")
IMAGES = ("rules", "forest", "best")
FIGURES = ("n", "n_true", "n_correct", "n_true_positive", "n_false_positive", "threshold")

Digests = Iterator[tuple[str, str]]


def digest(values: Iterable[Any]) -> str:
    """Return a digest of values, in their order."""
    found = hashlib.sha256()
    for value in values:
        found.update(repr(value).encode() + b"\0")
    return found.hexdigest()[:16]


def tables(dataset: Path) -> Digests:
    """Digest each column of a dataset's tables."""
    from birthmark import read_table

    for name in TABLES:
        table = read_table(dataset, name)
        for column in table.column_names:
            yield f"table {name} {column}", digest(table[column].to_pylist())


def answers(model: Any, lives: dict[str, pa.Table], images: Path) -> Digests:
    """Digest the answers of each kind of model at each point, and those of images."""
    from birthmark.predictor.image.format import predict
    from birthmark_native import Image

    for subject, born in lives.items():
        creates = model.creates(subject, born)
        keys = [key for key, each in model.predicates.items() if each.subject == subject]
        for kind in model.kinds:
            for point in POINTS:
                found = model.predict(creates, kind, point, keys)
                for key in keys:
                    yield f"answer {kind} {point} {key}", digest(found[key].to_pylist())
        for path in sorted(images.iterdir()):
            found = predict(Image(path.read_bytes()), creates)
            for key in found.keys() & set(keys):
                yield f"image {path.name} {key}", digest(found[key].to_pylist())


def evaluation(figures: pa.Table) -> Digests:
    """Digest the figures of an evaluation, row by row."""
    for row in figures.to_pylist():
        place = " ".join(str(row[name]) for name in ("subject", "predicate", "model", "point"))
        yield f"figure {place}", digest(row[name] for name in FIGURES)


def main(learn: str, ask: str, scratch: str) -> None:
    """Train and ask in a folder of its own, and print the digests."""
    from birthmark import births, read_files, read_names
    from birthmark.training.registry.stored import load_published
    from birthmark.training.registry.versions import Registry

    def birthmark(*arguments: str) -> None:
        subprocess.run([*BIRTHMARK, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=scratch)

    shutil.rmtree(scratch, ignore_errors=True)
    Path(scratch, "images").mkdir(parents=True)
    birthmark("ingest", learn, "--out", "learn")
    birthmark("ingest", ask, "--out", "ask")
    birthmark("train", "learn", "--registry", "registry")
    birthmark("evaluate", "ask", "--registry", "registry", "--parquet", "figures.parquet")
    for kind in IMAGES:  # the old spelling: older commits know no other
        birthmark("image", "--registry", "registry", "--model", kind, "--out", f"images/{kind}")
    stored = load_published(Registry(f"{scratch}/registry"))
    assert stored is not None
    dataset = Path(scratch, "ask")
    lives = {"file": births(read_files(dataset)), "name": births(read_names(dataset))}
    found = dict(tables(dataset))
    found |= evaluation(pq.read_table(f"{scratch}/figures.parquet"))
    found |= answers(stored.model, lives, Path(scratch, "images"))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
