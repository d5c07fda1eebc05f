"""A refresh takes what is better on births that came after, and nothing else."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data import lives
from birthmark.data.common.durations import SECOND
from birthmark.data.samples import DAYS
from birthmark.features.creates import from_files
from birthmark.features.history_scope import mask_history
from birthmark.predictor import births
from birthmark.predictor.control.refresh import RecentBirths, Refresher
from birthmark.predictor.models.forest.set import ForestModels
from birthmark.predictor.trained import TrainedModel

KEYS = ("lock", "size=zero", "name:lock")
STEP = 100


@pytest.fixture(scope="module")
def tables() -> tuple[pa.Table, pa.Table]:
    return lives.tables(pq.read_table(DAYS[0]).slice(0, 20_000).to_batches())


@pytest.fixture(scope="module")
def forests(tables: tuple[pa.Table, pa.Table]) -> ForestModels:
    model = TrainedModel(trees=8, rounds=8, calibration=0).train(*tables, kinds=("forest",))
    found = model.of_kind("forest")
    assert isinstance(found, ForestModels)
    return found


@pytest.fixture(scope="module")
def creates(tables: tuple[pa.Table, pa.Table]) -> pa.Table:
    files = births(tables[0])
    history = pa.nulls(len(files), pa.binary())
    return from_files(files.append_column("history", history))


def parts(
    forests: ForestModels, creates: pa.Table, wrong: set[str], times: int = 12
) -> list[RecentBirths]:
    """Return births each second: outcomes as probable as the scores, or the opposite if wrong."""
    random = np.random.default_rng(1)
    scores = forests.scores(creates, KEYS[:2])
    found = []
    for number in range(times):
        rows = np.arange(number * STEP, (number + 1) * STEP) % len(creates)
        drawn = random.random(STEP)
        truths = {
            key: ((drawn < own[rows]) ^ (key in wrong)).astype(float) for key, own in scores.items()
        }
        born = np.full(STEP, number * SECOND)
        found.append(RecentBirths(creates.take(pa.array(rows)), born, truths))
    return found


def refreshed(
    refresher: Refresher, own: list[RecentBirths], at_once: int = 4
) -> tuple[ForestModels, list[str]]:
    """Add births, with a step after some of them; return the last."""
    models, keys = refresher.step()
    for number, each in enumerate(own, 1):
        refresher.add(each)
        if number % at_once == 0:
            models, keys = refresher.step()
    return models, keys


def test_a_predicate_whose_outcomes_changed_is_refreshed_and_no_other(
    forests: ForestModels, creates: pa.Table
) -> None:
    own = parts(forests, creates, {"lock"})
    models, keys = refreshed(Refresher(forests), own)
    assert keys == ["lock"]
    rows = own[-1].creates
    before, after = (each.scores(rows, ["lock"])["lock"] for each in (forests, models))
    truths = own[-1].answers["lock"]
    assert ((after - truths) ** 2).mean() < 0.8 * ((before - truths) ** 2).mean()
    for key in ("size=zero", "name:lock"):
        assert (models.scores(rows, [key])[key] == forests.scores(rows, [key])[key]).all()
    assert list(models) == list(forests)
    assert models.points is forests.points


def test_a_candidate_is_judged_by_births_after_it_only(
    forests: ForestModels, creates: pa.Table
) -> None:
    refresher = Refresher(forests)
    for each in parts(forests, creates, {"lock"}):
        refresher.add(each)
    assert refresher.step()[1] == []  # there was no candidate yet
    assert refresher.evidence("lock") == 0


def test_births_without_outcomes_are_no_evidence(forests: ForestModels, creates: pa.Table) -> None:
    own = parts(forests, creates, {"lock"})
    for each in own[4:]:
        each.answers["lock"][:] = np.nan
    refresher = Refresher(forests)
    assert "lock" not in refreshed(refresher, own)[1]
    for each in own[4:]:  # they become known later
        each.answers["lock"][:] = own[0].answers["lock"][0]
    assert refresher.evidence("lock") != 0


def test_a_predicate_goes_back_once_its_refresh_is_no_better(
    forests: ForestModels, creates: pa.Table
) -> None:
    refresher = Refresher(forests, recent=6 * STEP)
    assert "lock" in refreshed(refresher, parts(forests, creates, {"lock"}))[1]
    models, keys = refreshed(refresher, parts(forests, creates, set(), times=40))
    assert keys == []
    rows = creates.slice(0, STEP)
    assert (models.scores(rows)["lock"] == forests.scores(rows)["lock"]).all()


def test_memory_is_bounded_by_the_number_of_births(
    forests: ForestModels, creates: pa.Table
) -> None:
    refresher = Refresher(forests, recent=3 * STEP)
    for each in parts(forests, creates, set(), times=10):
        refresher.add(each)
        held = sum(len(own.born) for births in refresher._births.values() for own in births)
        assert held <= 4 * STEP
    refresher.step()
    assert not refresher._unscored


def test_a_refresh_is_better_without_history_too(forests: ForestModels, creates: pa.Table) -> None:
    own = parts(forests, creates, {"lock"})
    models, _ = refreshed(Refresher(forests), own)
    rows = mask_history(own[-1].creates, "nothing")
    truths = own[-1].answers["lock"]
    before, after = (each.scores(rows, ["lock"])["lock"] for each in (forests, models))
    assert ((after - truths) ** 2).mean() < ((before - truths) ** 2).mean()
