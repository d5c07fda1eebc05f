from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from birthmark.features import from_requests
from birthmark.features.encoding import COLUMNS, NULL
from birthmark.predictor import parts
from birthmark.predictor.models.forest.set import ForestModels
from birthmark.predictor.models.forest.support import NO_SUPPORT, Support
from birthmark.predictor.models.words import LEAST_FILES

PARAMETERS = {"trees": 4, "rounds": 0, "seed": 7}


@pytest.fixture(scope="module")
def models() -> ForestModels:
    """Locks, which are gone, have mode 0644; mails, which stay, have 0600; few are spools."""
    models = ForestModels()
    gone = [n % 2 == 0 and n % 20 != 0 for n in range(400)]
    creates = [
        {"name": b"a%d.lock" % n, "mode": 0o644} if n % 2 == 0 else {"name": b"%d.mail" % n}
        for n in range(400)
    ]
    creates = [{"mode": 0o600, "uid": 5} | create for create in creates]
    few = [{"name": b"%d.spool" % n, "mode": 0o640} for n in range(LEAST_FILES - 1)]
    labels = {"lifespan<=5": gone + [True] * len(few)}
    models.train(from_requests([*creates, *few]), _arrays(labels), **PARAMETERS)
    return models


def _arrays(labels: dict[str, list[bool]]) -> dict[str, Any]:
    import pyarrow as pa

    return {key: pa.array(own) for key, own in labels.items()}


def evidence(models: ForestModels, **create: Any) -> dict[str, Any]:
    (found,) = models.evidence(from_requests([create]))
    return found["lifespan<=5"][1]


def test_the_counts_are_those_of_the_training_files(models: ForestModels) -> None:
    name = evidence(models, name=b"inbox.lock", mode=0o644)["because"][0]
    assert (name["text"], name["n_true"], name["n"]) == ("180 of 200 files named *.lock", 180, 200)


def test_a_combination_that_no_file_had_is_named(models: ForestModels) -> None:
    assert evidence(models, name=b"inbox.lock", mode=0o600)["unseen"] == [
        "No file named *.lock with mode 0600 was seen: answered as files named *.lock are,"
        " without the mode"
    ]
    because = evidence(models, name=b"inbox.lock", mode=0o600)["because"]
    texts = {reason["text"] for reason in because if reason["column"] == "mode"}
    assert texts <= {"mode 0600, which no such file had"}
    assert evidence(models, name=b"inbox.lock", mode=0o644, uid=5)["unseen"] == []
    assert evidence(models, name=b"inbox.lock")["unseen"] == []
    (unheard,) = evidence(models, name=b"inbox.lock", uid=77)["unseen"]
    assert unheard.startswith("No file named *.lock of user 77 was seen")


def test_too_few_files_are_no_evidence(models: ForestModels) -> None:
    because = evidence(models, name=b"1.spool", mode=0o640)["because"]
    assert because
    assert all(reason["n"] is None or reason["n"] >= LEAST_FILES for reason in because)


def test_unknown_values_are_not_counted() -> None:
    matrix = np.full((20, len(COLUMNS)), NULL, dtype=np.uint8)
    support = Support.of(matrix, np.ones((20, 1)))
    assert support.share("mode", NULL, 0) is None
    assert support.unseen(matrix[0]) == []
    assert NO_SUPPORT.unseen(matrix[0]) == []


def test_counts_are_stored_with_the_forest(models: ForestModels, tmp_path: Path) -> None:
    models.save(tmp_path)
    loaded = ForestModels.load(tmp_path, models, PARAMETERS, counts=False)
    asked: dict[str, Any] = {"name": b"inbox.lock", "mode": 0o600}
    assert evidence(loaded, **asked) == evidence(models, **asked)
    (tmp_path / "forest-support.arrow").unlink()
    with pytest.raises(parts.DamagedModelError, match="forest-support"):
        ForestModels.load(tmp_path, models, PARAMETERS, counts=False)


def test_forests_of_an_older_version_have_no_counts(models: ForestModels, tmp_path: Path) -> None:
    models.save(tmp_path)
    described = parts.read_json(tmp_path / "forest.json")
    del described["known"]
    parts.write_json(tmp_path / "forest.json", described)
    loaded = ForestModels.load(tmp_path, models, PARAMETERS, counts=False)
    found = evidence(loaded, name=b"inbox.lock", mode=0o600)
    assert found["unseen"] == []
    assert all(reason["n"] is None for reason in found["because"])
