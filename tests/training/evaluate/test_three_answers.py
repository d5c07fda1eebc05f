from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.predictor import TrainedModel
from birthmark.predictor.answers.certainty import WORDS
from birthmark.training.evaluate.cases import labelled
from birthmark.training.evaluate.three_answers import answers, of_no, of_served
from birthmark.training.statistics.bootstrap import blocks_of

MINUTE = 60_000_000


def test_a_no_is_judged_by_its_own_bound() -> None:
    """With 4,000 files, 100 a minute, half are a no, and one no in a hundred is wrong."""
    n = 4000
    words = np.where(np.arange(n) % 2 == 0, WORDS.index("no"), WORDS.index("unsure"))
    truth = (np.arange(n) % 200 == 0) | (words == WORDS.index("unsure"))
    blocks = blocks_of(np.arange(n) * MINUTE // 100)
    found = of_no(truth, words, blocks, bound=2.0)
    assert (found["n_no"], found["n_unsure"], found["n_false_negative"]) == (2000, 2000, 20)
    assert (found["decided"], found["right"], found["false_negatives"]) == (50.0, 99.0, 0.5)
    assert 0.2 < found["false_negatives_low"] < 0.5 < found["false_negatives_high"] < 1.0
    assert found["no_standing"] == "holds"
    assert of_no(truth, words, blocks, bound=0.5)["no_standing"] == "not enough seen"
    assert of_no(truth, words, blocks, bound=0.1)["no_standing"] == "shown broken"


def test_a_predicate_without_no_has_no_bound_to_break() -> None:
    unsure = np.full(100, WORDS.index("unsure"))
    found = of_no(np.ones(100, bool), unsure, blocks_of(np.arange(100) * MINUTE), bound=1.0)
    assert (found["decided"], found["right"], found["no_standing"]) == (0.0, None, None)


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainedModel, dict, tuple]:
    """Rules that learned from the first bundled day, and their test on the second."""
    folder = tmp_path_factory.mktemp("answers")
    lives = []
    for day in DAYS:
        path: Path = folder / day.stem
        ingest([str(day)], path)
        lives.append((read_files(path), read_names(path)))
    model = TrainedModel().train(*lives[0], kinds=("rules",))
    test = labelled(model.predicates, *lives[1], model.creates)
    return model, test, answers(model, test)


def test_every_answer_is_one_of_three(tested: tuple) -> None:
    _, test, (table, _) = tested
    for row in table.to_pylist():
        assert row["n_yes"] + row["n_no"] + row["n_unsure"] == row["n"] > 0
        assert row["n_false_positive"] <= row["n_yes"]
        assert row["n_false_negative"] <= row["n_no"]
    assert len(table) == 2 * sum(len(own.predicates) for own in test.values())


def test_accuracy_when_decided_exceeds_the_majority_answer(tested: tuple) -> None:
    _, _, (table, _) = tested
    rows = [row for row in of_served(table, "rules", "bounded")["file"] if row["n_true"]]
    common = [row for row in rows if 0.2 < row["n_true"] / row["n"] < 0.8 and row["decided"] > 1]
    assert len(common) > 8
    for row in common:
        guess = 100 * max(row["n_true"], row["n"] - row["n_true"]) / row["n"]
        assert row["right"] > guess, row["predicate"]


def test_it_is_calibrated_on_the_next_day_too(tested: tuple) -> None:
    _, _, (_, reliability) = tested
    bins = reliability.to_pylist()
    assert len(bins) > 8
    assert bins == sorted(bins, key=lambda row: row["likely"])
    weights = np.array([row["n"] for row in bins])
    gaps = np.array([abs(row["likely"] - row["share"]) for row in bins])
    assert (gaps * weights).sum() / weights.sum() < 0.1
    assert bins[0]["share"] < 0.05
    assert bins[-1]["share"] > 0.8


def test_the_served_kind_is_selected(tested: tuple) -> None:
    _, _, (table, _) = tested
    served = of_served(table, "rules", "accurate")
    assert served.keys() == {"file", "name"}
    assert {row["point"] for rows in served.values() for row in rows} == {"accurate"}
    assert {row["bound"] for rows in served.values() for row in rows} == {None}
