"""A model of a captured day, asked for names with modes that such files never had there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.features import from_requests
from birthmark.predictor import FILE_PREDICATES, TrainedModel

pytestmark = pytest.mark.deep

NAMES = [b"inbox.lock", b"main.c", b"main.o", b"notes.vm", b"thesis.tex"]
MODES = [0o400, 0o600, 0o640, 0o644, 0o664, 0o666]
KEYS = ["lifespan<=5", "size=zero", "write-only"]


@pytest.fixture(scope="module")
def model(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    day = tmp_path_factory.mktemp("day")
    ingest([shared / "captures" / "day1.pcap.xz"], day / "1")
    predicates = [FILE_PREDICATES[key] for key in KEYS]
    model = TrainedModel(calibration=0.0)
    return model.train(read_files(day / "1"), read_names(day / "1"), predicates, ["forest"])


def asked(name: bytes, mode: int | None) -> pa.Table:
    known = {} if mode is None else {"mode": mode}
    return from_requests([{"name": name} | known])


def test_a_mode_that_was_never_seen_with_a_name_does_not_decide(model: TrainedModel) -> None:
    moved = []
    for name in NAMES:
        without = model.scores(asked(name, None), "forest")
        for mode in MODES:
            create = asked(name, mode)
            (found,) = model.explain(create, "forest")
            if not found["lifespan<=5"].evidence["unseen"]:
                continue
            scores = model.scores(create, "forest")
            moved += [abs(float(scores[key][0] - without[key][0])) for key in KEYS]
    assert len(moved) >= 3 * len(MODES)  # of locks alone
    assert np.mean(moved) < 0.06


def test_locks_with_a_mode_are_explained_and_answered_as_locks(model: TrainedModel) -> None:
    """All 1,198 locks of that day were made without a mode, and 93% were gone within 5 s."""
    (found,) = model.explain(asked(b"inbox.lock", 0o600), "forest")
    assert found["lifespan<=5"].answer
    assert found["lifespan<=5"].evidence["unseen"] == [
        "No file named *.lock with mode 0600 was seen: answered as files named *.lock are,"
        " without the mode"
    ]
