from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from birthmark.data.schema import NAMES
from birthmark.predictor import TrainedModel
from birthmark.predictor.heat.reconsider import settled
from birthmark.predictor.predicates import FILE_PREDICATES, check, from_config, own_predicate
from tests.builders.lives import MONDAY, day_of_lives, files_of

LIVES = files_of(*day_of_lives(MONDAY, each=3))

MODULE = '''
import pyarrow.compute as pc

def often_written(lives):
    """Written more than five times."""
    return pc.greater(lives["writes"], 5)

class Own:
    @staticmethod
    def never(lives):
        return [False] * len(lives)

number = 3
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module of one's own, that can be imported."""
    (tmp_path / "own_questions.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "own_questions", raising=False)
    return "own_questions"


@pytest.mark.parametrize(
    "answers",
    [
        lambda lives: pc.greater(lives["writes"], 5),
        lambda lives: pc.greater(lives["writes"], 5).combine_chunks(),
        lambda lives: lives["writes"].to_numpy() > 5,
        lambda lives: lives.to_pandas()["writes"] > 5,
        lambda lives: [writes > 5 for writes in lives["writes"].to_pylist()],
    ],
)
def test_a_function_answers_for_each_life_in_any_form(answers: Any) -> None:
    own = own_predicate("own", answers)
    assert own.evaluate(LIVES).to_pylist() == [False, False, True] * 3


def test_null_is_unknown() -> None:
    for answers in (
        [None, True, False] * 3,
        pd.Series([None, True, False] * 3, dtype="boolean"),
        pa.array([None, True, False] * 3),
    ):
        own = own_predicate("own", lambda lives, answers=answers: answers)
        assert own.evaluate(LIVES).to_pylist() == [None, True, False] * 3
    assert own_predicate("own", lambda lives: [None] * 9).evaluate(LIVES).null_count == 9


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([True], "expected 9 booleans, one for each life; found 1 of bool"),
        (np.arange(9), "found 9 of int64"),
        ([True, "no"] * 3, "expected an answer for each life"),
        (7, "expected an answer for each life"),
    ],
)
def test_results_must_be_answers(answers: Any, found: str) -> None:
    with pytest.raises(ValueError, match=found):
        own_predicate("own", lambda lives: answers).evaluate(LIVES)


def test_it_is_not_believed_of_a_life_that_goes_on() -> None:
    own = own_predicate("own", lambda lives: pc.greater(lives["writes"], 5))
    assert settled(LIVES, {"own": own})["own"].to_pylist() == [False, False, None] * 3


def test_it_is_named_in_the_configuration_by_module_and_name(package: str) -> None:
    own = from_config({"name": "own", "function": f"{package}:often_written"})
    check(own)
    assert own.evaluate(LIVES).to_pylist() == [False, False, True] * 3
    assert (own.description, own.source) == (f"{package}:often_written", "configuration")
    never = from_config({"name": "never", "function": f"{package}:Own.never"})
    assert never.evaluate(LIVES).true_count == 0


def test_naming_it_runs_no_code_before_its_first_use() -> None:
    from_config({"name": "own", "function": "not_there:at_all"})


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("not_there:at_all", "No module named 'not_there': install the package that has it"),
        ("own_questions:missing", "expected package.module:name: .* no attribute 'missing'"),
        ("own_questions:number", "expected a function, found 3"),
        ("own_questions", "expected .* entry point of the group 'birthmark.predicates', .* none"),
        (":name", "expected package.module:name"),
    ],
)
def test_one_that_is_not_there_is_refused_by_name(package: str, function: str, reason: str) -> None:
    own = from_config({"name": "own", "function": function})
    with pytest.raises(ValueError, match=f"predicate 'own': function: '{function}': {reason}"):
        check(own)
    with pytest.raises(ValueError, match=reason):
        own.evaluate(LIVES)


def test_a_package_offers_its_own_by_an_entry_point(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "own_questions-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-questions\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        f"[birthmark.predicates]\noften = {package}:often_written\nbroken = {package}:missing\n"
    )
    importlib.invalidate_caches()
    own = from_config({"name": "own", "function": "often"})
    assert own.evaluate(LIVES).to_pylist() == [False, False, True] * 3
    with pytest.raises(ValueError, match=r"the entry point 'own_questions:missing': .*missing"):
        check(from_config({"name": "own", "function": "broken"}))
    with pytest.raises(ValueError, match="which has: broken, often"):
        check(from_config({"name": "own", "function": "seldom"}))


def test_a_model_remembers_its_own_predicates(package: str, tmp_path: Path) -> None:
    questions = __import__(package)
    asked = [
        FILE_PREDICATES["lock"],
        own_predicate("often", questions.often_written),
        own_predicate("rewritten", "bytes_written > 2 * size"),
        own_predicate("brief", "lifespan <= 2", subject="name"),
    ]
    assert asked[1].description == "Written more than five times."
    model = TrainedModel(calibration=0).train(LIVES, NAMES.empty_table(), asked, kinds=["able"])
    model.save(tmp_path)
    loaded = TrainedModel.load(tmp_path)
    assert list(loaded.predicates) == ["lock", "often", "rewritten", "name:brief"]
    for key, predicate in loaded.predicates.items():
        if predicate.subject == "file":
            assert predicate.evaluate(LIVES).equals(model.predicates[key].evaluate(LIVES))
    assert list(loaded.predicates.values()) == asked
    assert loaded.tallies["often"] == {"known": 9, "true": 3, "unknown": 0}


def test_a_version_is_loaded_without_its_package_and_says_what_is_missing_when_it_is_judged(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service answers by models alone: it needs no code of the question."""
    own = from_config({"name": "often", "function": f"{package}:often_written"})
    model = TrainedModel(calibration=0).train(LIVES, NAMES.empty_table(), [own], kinds=["able"])
    (tmp_path / "saved").mkdir()
    model.save(tmp_path / "saved")
    monkeypatch.delitem(__import__("sys").modules, package)
    (tmp_path / "own_questions.py").unlink()
    loaded = TrainedModel.load(tmp_path / "saved")
    creates = loaded.creates("file", LIVES)
    assert loaded.predict(creates, "able")["often"].to_pylist() == [False, False, True] * 3
    with pytest.raises(ValueError, match="install the package that has it"):
        loaded.predicates["often"].evaluate(LIVES)


def test_one_of_a_notebook_is_learned_and_asked_but_not_saved(tmp_path: Path) -> None:
    own = own_predicate("own", lambda lives: pc.greater(lives["writes"], 5))
    model = TrainedModel(calibration=0).train(LIVES, NAMES.empty_table(), [own], kinds=["able"])
    assert model.predict(model.creates("file", LIVES), "able")["own"].true_count == 3
    with pytest.raises(ValueError, match=r"predicate 'own' cannot be saved: .*not in a notebook"):
        model.save(tmp_path)
    assert not list(tmp_path.iterdir())
