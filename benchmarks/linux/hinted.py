"""The write-life hints that a model's answers call for, by file of a build."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.linux.knowledge import Hint
from birthmark.data.datasets.tables import read_files
from birthmark.features.told import forgotten
from birthmark.layout_hint.f2fs.births import SHORT
from birthmark.predictor import TrainedModel, births
from birthmark.training.registry.published import Published

HINTS = {"yes": Hint.SHORT, "unsure": Hint.NOT_SET, "no": Hint.EXTREME}
"""The hint of each answer to whether a file is gone within half a minute."""


def hints(
    model: TrainedModel, published: Published, build: Path, days: Sequence[Path], told: bool
) -> dict[int, int]:
    """Return by file the hint that the answer about its create calls for.

    ``days`` are the datasets of what the build was made of; ``told`` says whether the model is told
    what was seen before each create.
    """
    lives = pa.concat_tables([births(read_files(day)) for day in days])
    lives = lives.unify_dictionaries().sort_by("born")
    creates = model.creates("file", lives)
    if not told:
        creates = forgotten(creates, "nothing")
    point = published.point
    said = model.say(creates, published.kind, point, [SHORT], published.abstaining)[SHORT]
    waiting: dict[bytes, list[int]] = defaultdict(list)
    for name, word in zip(lives["name"].to_pylist(), said.in_words().to_pylist(), strict=True):
        waiting[name].append(HINTS[word])
    made = (pc.field("op") == "create") & (pc.field("status") == 0)
    operations = build / "operations.parquet"
    table = pq.read_table(operations, columns=["name", "new_id"], filters=made)
    files = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return in_turn(files, waiting)


def in_turn(
    creates: Iterable[tuple[bytes, int]], hinted: Mapping[bytes, list[int]]
) -> dict[int, int]:
    """Return hints by file: of the files that were made under one name, each has the next."""
    waiting = {name: deque(own) for name, own in hinted.items()}
    found: dict[int, int] = {}
    for name, file in creates:
        if file not in found and waiting.get(name):
            found[file] = waiting[name].popleft()
    return found
