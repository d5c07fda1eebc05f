"""Estimators of users, as a kind of models beside those that are built in."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from birthmark.data.schema import NAMES
from birthmark.predictor import FILE_PREDICATES, NAME_PREDICATES, TrainedModel
from birthmark.predictor.models.compile import compile_models
from birthmark.predictor.models.estimators.estimator import Estimator, from_config
from birthmark.predictor.models.estimators.set import FEATURES, file_of
from birthmark.predictor.models.kinds import BEST
from birthmark.predictor.parts import DamagedModelError
from tests.builders.lives import MONDAY, day_of_lives, files_of, names_of

ROWS = day_of_lives(MONDAY, each=30)
FILES, NAMED = files_of(*ROWS), names_of(*ROWS)
ASKED = [FILE_PREDICATES["lock"], FILE_PREDICATES["lifespan<=30"], NAME_PREDICATES["lock"]]
TREE = DecisionTreeClassifier(max_depth=3)


def trained(estimators: dict[str, Any], **options: Any) -> TrainedModel:
    kinds = options.pop("kinds", ["able", "rules"])
    model = TrainedModel(**options)
    return model.train(FILES, NAMED, ASKED, kinds=kinds, estimators=estimators)


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    return trained({"tree": TREE, "logistic": pipeline})


def right(model: TrainedModel, kind: str) -> float:
    truth = FILE_PREDICATES["lock"].evaluate(FILES)
    answers = model.predict(model.creates("file", FILES), kind)["lock"]
    return np.mean(np.array(truth) == np.array(answers))


def test_it_learns_every_predicate_and_is_calibrated_as_other_kinds_are(
    model: TrainedModel,
) -> None:
    assert model.kinds == ("able", "rules", "tree", "logistic", BEST)
    creates = model.creates("file", FILES)
    for kind in ("tree", "logistic"):
        assert list(model.models[kind]) == list(model.predicates)
        scores = model.scores(creates, kind)
        assert all(((own >= 0) & (own <= 1)).all() for own in scores.values())
        assert model.models[kind].point("lock").n == len(FILES)
        assert right(model, kind) == 1
        answers = model.answer(creates, kind)["lock"]
        assert {answers.word(row) for row in range(3)} <= {"yes", "no", "unsure"}
        (answer, *_) = model.explain(creates.slice(0, 1), kind)
        assert answer["lock"].evidence == {"score": answer["lock"].score}


def test_the_best_kind_is_one_that_a_service_can_answer_by(model: TrainedModel) -> None:
    best = model.of_kind(BEST)
    assert {best.kind_of(key, "nothing") for key in model.predicates} <= {"able", "rules"}
    assert set(model.hints) == set()


def test_it_sees_the_columns_of_the_forest(model: TrainedModel) -> None:
    tree = model.models["tree"]["lock"].estimator_
    assert list(tree.feature_names_in_) == FEATURES
    assert {"digit_run", "mode", "hour"} <= set(FEATURES)


def test_it_fits_a_clone_and_leaves_the_given_estimator_unchanged(model: TrainedModel) -> None:
    assert not hasattr(TREE, "tree_")
    assert model.models["tree"]["lock"].estimator_ is not TREE


def test_its_chance_is_from_the_seed_unless_it_has_its_own() -> None:
    for own, expected in ((None, 7), (3, 3)):
        forest = RandomForestClassifier(n_estimators=2, random_state=own)
        model = trained({"random": forest}, seed=7, calibration=0)
        assert model.models["random"]["lock"].estimator_.random_state == expected


def test_where_only_one_answer_was_seen_it_gives_that(tmp_path: Path) -> None:
    pages = files_of(*ROWS[2::3])
    model = TrainedModel(calibration=0).train(
        pages, NAMES.empty_table(), ASKED, kinds=[], estimators={"logistic": LogisticRegression()}
    )
    assert model.kinds == ("logistic",)
    model.save(tmp_path)
    for each in (model, TrainedModel.load(tmp_path, estimators=True)):
        scores = each.scores(each.creates("file", pages), "logistic")
        assert not scores["lock"].any()
        assert not each.scores(each.creates("file", pages.slice(0, 0)), "logistic")["lock"].size


def test_it_is_saved_and_loaded_if_that_is_asked_for(model: TrainedModel, tmp_path: Path) -> None:
    files = model.save(tmp_path)
    assert {file_of("tree"), file_of("logistic")} < set(files)
    assert not [name for name in files if "image" in name and "tree" in name]
    loaded = TrainedModel.load(tmp_path, estimators=True)
    assert loaded.kinds == model.kinds
    creates = model.creates("file", FILES)
    for kind in ("tree", "logistic"):
        for key, scores in model.scores(creates, kind).items():
            assert np.array_equal(loaded.scores(creates, kind)[key], scores)
        assert loaded.models[kind].points == model.models[kind].points


def test_no_code_is_run_unless_it_is_asked_for(model: TrainedModel, tmp_path: Path) -> None:
    model.save(tmp_path)
    ran = tmp_path / "ran"
    (tmp_path / file_of("tree")).write_bytes(pickle.dumps(Harmful(str(ran))))
    loaded = TrainedModel.load(tmp_path)
    assert loaded.kinds == ("able", "rules", BEST)
    assert list(loaded.estimators) == ["tree", "logistic"]
    assert TrainedModel.load(tmp_path, only=BEST).kinds[-1] == BEST
    assert not ran.exists()
    with pytest.raises(ValueError, match="no models of kind 'tree'"):
        loaded.of_kind("tree")
    (tmp_path / "again").mkdir()
    assert file_of("tree") not in loaded.save(tmp_path / "again")
    assert not TrainedModel.load(tmp_path / "again", estimators=True).estimators
    with pytest.raises(DamagedModelError, match=file_of("tree")):
        TrainedModel.load(tmp_path, estimators=True)
    assert ran.exists()  # this is what a pickle may do


class Harmful:
    """Whose pickle makes a file when it is loaded."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (Path(self.path),)


def test_a_missing_package_is_named(
    model: TrainedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "sklearn.tree", None)
    monkeypatch.setitem(__import__("sys").modules, "sklearn.tree._classes", None)
    expected = f"{file_of('tree')}: .*sklearn.tree.*: install the package that has it"
    with pytest.raises(ValueError, match=expected):
        TrainedModel.load(tmp_path, estimators=True)


def test_no_image_can_be_made_of_it(model: TrainedModel) -> None:
    with pytest.raises(ValueError, match="no image can be made of models of kind 'tree'"):
        compile_models(model.models["tree"], "accurate")
    with pytest.raises(ValueError, match="not made of rules"):
        model.rules("tree")


def test_the_configuration_names_a_class_and_its_parameters(tmp_path: Path) -> None:
    own = from_config(
        {
            "kind": "boosted",
            "class": "sklearn.ensemble:HistGradientBoostingClassifier",
            "parameters": {"max_iter": 3},
        }
    )
    made = own.made()
    assert isinstance(made, HistGradientBoostingClassifier)
    assert made.max_iter == 3
    model = trained({"boosted": own}, calibration=0)
    model.save(tmp_path)
    saved = json.loads((tmp_path / "model.json").read_text())
    assert saved["estimators"] == [own.to_json()]
    assert TrainedModel.load(tmp_path).estimators == {"boosted": own}


def test_estimators_given_in_python_cannot_be_made_again(
    model: TrainedModel, tmp_path: Path
) -> None:
    model.save(tmp_path)
    with pytest.raises(ValueError, match="estimator 'tree': it was given in Python, not named"):
        TrainedModel.load(tmp_path).estimators["tree"].made()


class Silent(ClassifierMixin, BaseEstimator):
    """One that does not say how likely a yes is."""

    def fit(self, X: Any, y: Any) -> Silent:
        return self


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"class": "sklearn.tree:DecisionTreeClassifier"}, "an estimator needs a kind"),
        ({"kind": "My Own", "class": "x:y"}, "an estimator needs a kind, .* has 'My Own'"),
        ({"kind": "forest", "class": "x:y"}, "'forest': this kind is built in"),
        ({"kind": "best", "class": "x:y"}, "'best': this kind is built in"),
        ({"kind": "own"}, "'own': class: expected package.module:Class, found None"),
        ({"kind": "own", "class": "x:y", "params": {}}, "did you mean 'parameters'"),
        ({"kind": "own", "class": "x:y", "parameters": [1]}, "parameters: expected a table"),
    ],
)
def test_invalid_estimators_are_refused(config: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        from_config(config)


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        (Estimator("own", "not_there:At"), "own': 'not_there:At': No module .* install"),
        (Estimator("own", "sklearn.tree:Oak"), "own': 'sklearn.tree:Oak': expected package"),
        (Estimator("own", "sklearn.tree:DecisionTreeClassifier", {"depth": 3}), "own': .*depth"),
        (Estimator("own", given=Silent()), "own': Silent: expected .* predict_proba"),
        (Estimator("own", "sklearn.svm:LinearSVC"), "own': LinearSVC: expected .* predict_proba"),
        (Estimator("own", "oak"), "entry point of the group 'birthmark.estimators'"),
    ],
)
def test_one_that_cannot_be_made_is_refused_by_name(own: Estimator, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        own.made()
    with pytest.raises(ValueError, match=reason):
        trained({"own": own}, calibration=0)


def test_the_word_of_a_kind_must_not_be_taken() -> None:
    with pytest.raises(ValueError, match="'rules': this kind is built in"):
        trained({"rules": LinearSVC()})


def test_names_are_scored_by_the_history_of_names(model: TrainedModel) -> None:
    creates = model.creates("name", NAMED)
    scores = model.scores(creates, "tree", ["name:lock"])["name:lock"]
    truth = pa.array(NAME_PREDICATES["lock"].evaluate(NAMED))
    assert np.array_equal(scores > 0.5, np.array(truth))


def test_a_package_offers_its_own_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "own_learners-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-learners\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        "[birthmark.estimators]\noak = sklearn.tree:DecisionTreeClassifier\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    made = from_config({"kind": "own", "class": "oak", "parameters": {"max_depth": 2}}).made()
    assert isinstance(made, DecisionTreeClassifier)
    assert made.max_depth == 2
