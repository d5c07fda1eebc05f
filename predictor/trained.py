"""The whole set of models that is trained, published and served together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from birthmark.data.common.plurals import counted
from birthmark.data.common.without_pandas import with_pandas
from birthmark.features import History, from_directories, from_files, from_names
from birthmark.features.history_scope import HistoryScope
from birthmark.predictor import parts, saved_images
from birthmark.predictor.allocation import hot_name as hint_models
from birthmark.predictor.answers import certainty
from birthmark.predictor.answers.certainty import ThreeWayAnswer
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.answers.point import ACCURATE, BOUNDED, POINTS, Point
from birthmark.predictor.fit.calibration import Holdout, points_from_json
from birthmark.predictor.fit.learning import Learner, LocalLearner, TrainingSet
from birthmark.predictor.fit.thresholds import Limits
from birthmark.predictor.heat import Heat, directories
from birthmark.predictor.labels import births, tally
from birthmark.predictor.models.best import BestModels, Choice
from birthmark.predictor.models.estimators.estimator import Estimator, estimators_of, from_json
from birthmark.predictor.models.kinds import BEST, KINDS, Kind
from birthmark.predictor.models.model_set import (
    Answer,
    ModelSet,
    error_reduction,
    history_scope_by_predicate,
)
from birthmark.predictor.parameters import Parameters
from birthmark.predictor.predicates import BUILT_IN, Predicate, from_config
from birthmark.predictor.predicates.assignments import Assignments, assignments_of
from birthmark.predictor.predicates.predicate import Subject
from birthmark.predictor.saved_images import kind_of_images

_FORMAT = 5
_READABLE = (4, 5)
"""The formats that are read: with its parts as files, and in an archive."""
_FILE = "model.json"
_CREATES: Mapping[str, Callable[[pa.Table], pa.Table]] = {
    "file": from_files,
    "name": from_names,
    "directory": from_directories,
}


class TrainedModel:
    """One model per kind and predicate, learned from the same lives.

    Predicates have keys: ``lock`` is about files, ``name:lock`` about names. The parameters are
    those of ``predictor.parameters.Parameters``, by name; others raise ``ValueError``. Thresholds
    are chosen on out-of-fold scores of births, a share ``calibration`` at a time
    (``predictor.fit.calibration``; 0: no calibration). They keep false positives to at most
    ``bound`` of all files, and false negatives to ``false_negative_bound``, each with
    ``confidence`` (``predictor.fit.thresholds``).

    Each create has a history of earlier births (``features.History``). The model keeps the history,
    so that ``creates`` continues it for the next period.

    Attributes after ``fit`` or ``load``:

    - ``predicates`` by key, and their consistent ``assignments``
      (``predictor.predicates.assignments``)
    - ``models`` by kind, then key
    - ``estimators`` of the user's, by kind; ``load`` reads their models only on request
    - ``tallies`` of the training labels, by key (``predictor.labels.tally``)
    - ``histories`` by subject, ``file`` and ``name``
    - ``heat`` (``predictor.heat``)
    - ``hints``, the models of HotName for file systems, by kind
      (``predictor.allocation.hot_name``); empty unless HotName is a predicate
    """

    def __init__(self, **parameters: Any) -> None:
        self.parameters = Parameters(**parameters).model_dump()
        self.limits = Limits.of(self.parameters)
        self.predicates: dict[str, Predicate] = {}
        self.assignments: list[Assignments] = []
        self.tallies: dict[str, dict[str, int]] = {}
        self.models: dict[str, ModelSet[Any]] = {}
        self.estimators: dict[str, Estimator] = {}
        self.histories: dict[str, History] = {}
        self.heat = Heat()
        self.hints: dict[str, ModelSet[Any]] = {}

    def __repr__(self) -> str:
        if not self.models:
            return "<TrainedModel: nothing learned yet>"
        of = f"{counted(len(self.predicates), 'predicates')} by {', '.join(self.kinds)}"
        most = max((tally["known"] for tally in self.tallies.values()), default=0)
        return f"<TrainedModel: {of}; learned from {counted(most, 'births')}>"

    @property
    def kinds(self) -> tuple[str, ...]:
        """The trained kinds of models; with several built-in kinds, also ``best``.

        ``best`` combines the built-in kinds only, because a service can run no others.
        """
        return tuple(self.models)

    def train(
        self,
        files: pa.Table,
        names: pa.Table,
        predicates: Iterable[Predicate] | None = None,
        kinds: Sequence[str] = tuple(KINDS),
        learner: Learner | None = None,
        estimators: Mapping[str, Any] = {},
    ) -> TrainedModel:
        """Learn ``predicates`` from the births in two tables.

        The default is the built-in predicates about files and names. Predicates about directories,
        and ``heat``, are learned from the directories in ``files``
        (``predictor.heat.directories``). Rows of the directories themselves improve them, and so
        do rows of files that existed before the trace: hints are learned from all files.

        ``files`` and ``names`` have the columns of ``data.schema``. Rows whose label is unknown
        are left out, predicate by predicate, and counted in ``tallies``. ``learner`` trains the
        models (None: in this process); the models do not depend on it.

        ``estimators`` are further kinds by name: scikit-learn classifiers with ``predict_proba``,
        or ``predictor.models.estimators.estimator.Estimator``. They see the rows of
        ``predictor.models.estimators.set``, and learn each predicate alone.
        """
        learner = learner or LocalLearner()
        if predicates is None:
            predicates = [p for p in BUILT_IN.values() if p.subject != "directory"]
        self.predicates = _by_key(predicates)
        self.assignments = assignments_of(self.predicates)
        self.models, best = _sets(kinds)
        self.estimators = estimators_of(estimators)
        self.models |= {
            kind: _estimator_set(estimator)() for kind, estimator in self.estimators.items()
        }
        self.histories = {"file": History(), "name": History()}
        for subject, lives in (("file", files), ("name", names)):
            rows = self._with_history(births(lives), self.histories[subject])
            learner.learn(self.models, self._training_set(subject, rows), best)
        if any(predicate.subject == "directory" for predicate in self.predicates.values()):
            learner.learn(self.models, self._training_set("directory", directories(files)), best)
        self.heat = Heat().train(files)
        hinted: BestModels | None = None
        if hint_models.HOT_NAME in self.predicates:
            self.hints, hinted = _sets(kinds)
            hint_models.train(self.hints, files, self.parameters, learner, hinted)
        learner.finish()
        self._add_best(best, hinted)
        return self

    def _add_best(self, best: BestModels | None, hinted: BestModels | None) -> None:
        """Add the sets of best models, if any, and put all sets in order."""
        if best is not None:
            self.models[BEST] = best
        if hinted is not None:
            self.hints[BEST] = hinted
        for models in self.models.values():
            _order(models, self.predicates)

    def _training_set(self, subject: str, lives: pa.Table) -> TrainingSet:
        predicates = [p for p in self.predicates.values() if p.subject == subject]
        labels = {predicate.key: predicate.evaluate(lives) for predicate in predicates}
        creates = _CREATES[subject](lives)
        holdout = Holdout.of(lives, self.parameters["calibration"])
        learned = pa.array(holdout.learned)
        self.tallies |= {key: tally(answers.filter(learned)) for key, answers in labels.items()}
        return TrainingSet(creates, labels, holdout, self.parameters, self.assignments)

    def creates(self, subject: Subject, lives: pa.Table) -> pa.Table:
        """Return the creates of a later period's births, each with its history.

        ``lives`` is a files or names table of births only (``predictor.births``), or a table of
        ``features.DIRECTORIES``, which have no history. The creates have the order of its rows.
        The model does not change.
        """
        if subject != "directory":
            lives = self._with_history(
                lives, History.from_table(self.histories[subject].to_table())
            )
        return _CREATES[subject](lives)

    def _with_history(self, lives: pa.Table, history: History) -> pa.Table:
        return lives.append_column("history", history.follow(lives, self.parameters["behind"]))

    def follow(self, files: pa.Table, names: pa.Table) -> None:
        """Add the births of a later period to the histories; train nothing."""
        for subject, lives in (("file", files), ("name", names)):
            self.histories[subject].follow(births(lives))

    def of_kind(self, kind: str) -> ModelSet[Any]:
        """Return the models of ``kind``; raise ``ValueError`` where there are none."""
        if kind not in self.models:
            raise ValueError(f"no models of kind {kind!r}: there are {', '.join(self.kinds)}")
        return self.models[kind]

    def scores(
        self, creates: pa.Table, kind: str, keys: Iterable[str] | None = None
    ) -> dict[str, Scores]:
        """Return by key the scores of the models of ``keys`` (None: all), 0 to 1, row by row."""
        return self.of_kind(kind).scores(creates, keys)

    def predict(
        self,
        creates: pa.Table,
        kind: str,
        point: Point = ACCURATE,
        keys: Iterable[str] | None = None,
    ) -> dict[str, pa.BooleanArray]:
        """Return by key the answers of ``keys`` (None: all) for each row of ``creates``.

        ``creates`` has the columns of ``features.CREATES``; ``point`` selects the threshold.
        """
        return self.of_kind(kind).predict(creates, point, keys)

    def answer(
        self,
        creates: pa.Table,
        kind: str,
        point: Point = BOUNDED,
        keys: Iterable[str] | None = None,
        abstaining: Iterable[str] = (),
    ) -> dict[str, ThreeWayAnswer]:
        """Return by key a consistent yes, no or unsure for each row, and the probability of a yes.

        ``keys`` (None: all) and ``creates`` are as in ``predict``; predicates ``abstaining`` are
        never a yes.
        """
        models = self.of_kind(kind).at(point)
        scores = models.scores(creates, keys)
        scope = history_scope_by_predicate(creates, scores)
        return certainty.answer_by_scope(
            scores, models.points_for, scope, self.assignments, point, abstaining
        )

    def explain(
        self, creates: pa.Table, kind: str, point: Point = ACCURATE
    ) -> list[dict[str, Answer]]:
        """Return for each row of ``creates`` every predicate's answer and evidence, by key.

        ``KINDS`` declares the members of each kind's evidence. Bytes become text, with backslash
        escapes where they are not UTF-8.
        """
        return self.of_kind(kind).explain(creates, point)

    def rules(self, kind: str, point: Point = ACCURATE) -> pa.Table:
        """Return the rules that decide, a table of ``models.model_set.RULES``."""
        return self.of_kind(kind).rules(point)

    def by_error_reduction(self, rules: pa.Table) -> list[dict[str, Any]]:
        """Return the result of `rules` by error reduction, the greatest first.

        Rules of equal error reduction keep their order.
        """
        return sorted(rules.to_pylist(), key=self._error_reduction, reverse=True)

    def error_reducing_rules(self, kind: str, point: Point = ACCURATE) -> list[dict[str, Any]]:
        """Return the rules that err less often than the majority answer, the best first."""
        rules = self.by_error_reduction(self.rules(kind, point))
        return [rule for rule in rules if self._error_reduction(rule) > 0]

    def _error_reduction(self, rule: Mapping[str, Any]) -> float:
        return error_reduction(rule, self.tallies[rule["predicate"]])

    def save(self, directory: Path, kind: str | None = None) -> list[str]:
        """Write the model and its compiled images to files in ``directory``; return their names.

        The images have the models of ``kind`` (None: ``best``, or the only one).
        Estimators that were not loaded are left out. Raises ``ValueError`` for a predicate whose
        function cannot be imported by its name.
        """
        _check_named(self.predicates)
        kind = kind or kind_of_images(self.kinds)
        predicates = [
            {"key": key, "config": predicate.config and dict(predicate.config)}
            for key, predicate in self.predicates.items()
        ]
        content = {
            "format": _FORMAT,
            "kinds": [kind for kind in self.kinds if kind in KINDS],
            "estimators": [
                e.to_json() for kind, e in self.estimators.items() if kind in self.models
            ],
            "best": _best(self.models),
            "best_hints": _best(self.hints),
            "parameters": self.parameters,
            "predicates": predicates,
            "tallies": self.tallies,
            "points": _points(self.models),
            "hints": _points(self.hints),
            "images": kind,
        }
        parts.write_json(directory / _FILE, content)
        with parts.archive(directory) as archive:
            for built_in in (kind for kind in self.models if kind in KINDS):
                self.models[built_in].save(archive)
            parts.write_histories(archive, self.histories)
            self.heat.save(archive)
            hint_models.save(self.hints, archive)
        estimators = (self.models[kind] for kind in self.estimators if kind in self.models)
        return [
            _FILE,
            parts.ARCHIVE,
            *(name for models in estimators for name in models.save(directory)),
            *saved_images.save(self, directory, kind),
        ]

    @classmethod
    def load(
        cls,
        directory: Path,
        counts: bool = True,
        only: Kind | None = None,
        estimators: bool = False,
    ) -> TrainedModel:
        """Return the model that was saved in ``directory``; with ``only``, that kind if possible.

        Without ``counts`` it takes less memory, predicts and explains as before, and cannot learn.
        ``estimators`` loads the user's estimators, too, unless ``only`` is given. They are pickles:
        loading them runs code from the files; otherwise none runs.

        Raises ``predictor.parts.DamagedModelError``, a ``ValueError`` that names the file, if
        a part is missing or differs from what was saved.
        """
        path = Path(directory) / _FILE
        content = read_description(Path(directory))
        try:
            model = cls(**content["parameters"])
            model.predicates = {p["key"]: _predicate(p) for p in content["predicates"]}
            model.assignments = assignments_of(model.predicates)
            model.tallies = {key: dict(content["tallies"][key]) for key in model.predicates}
            model.estimators = _read_estimators(content.get("estimators", []))
            saved_kinds: list[str] = content["kinds"]
            best, hinted_best = content.get("best", {}), content.get("best_hints", {})
            needed = _needed_kinds(saved_kinds, only, [*best.values(), *hinted_best.values()])
            chosen, hinted_chosen = _read_best(best), _read_best(hinted_best)
            kinds = {kind: _set_of(kind) for kind in saved_kinds if kind in needed}
            if estimators and only is None:
                kinds |= {kind: _estimator_set(e) for kind, e in model.estimators.items()}
            points = {kind: points_from_json(content["points"][kind]) for kind in kinds}
            hinted = {kind: points_from_json(saved) for kind, saved in content["hints"].items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise parts.DamagedModelError(
                path, f"the description of a model ({error!r})"
            ) from error
        place = parts.parts_of(path.parent)
        for kind, models in kinds.items():
            parameters = models.own_parameters(model.parameters)
            own = place if kind in KINDS else path.parent
            model.models[kind] = models.load(own, model.predicates, parameters, counts)
            _order(model.models[kind], model.predicates)
            model.models[kind].points = points[kind]
            if kind in hinted:
                hints = hint_models.load(models, place, model.parameters, counts)
                hints.points = hinted[kind]
                model.hints[kind] = hints
        if only not in saved_kinds:
            try:
                _add_loaded(model.models, chosen)
                _add_loaded(model.hints, hinted_chosen)
            except (KeyError, TypeError, AttributeError) as error:
                raise parts.DamagedModelError(path, f"the best kinds ({error!r})") from error
        model.histories = parts.read_histories(place)
        model.heat = Heat.load(place)
        return model


def read_description(directory: Path) -> dict[str, Any]:
    """Return the description of the model that was saved in a directory.

    Raises ``predictor.parts.OlderModelError`` for the format of another release, and
    ``DamagedModelError`` if there is no model.
    """
    path = directory / _FILE
    content: dict[str, Any] = parts.read_json(path)
    found = content.get("format")
    if isinstance(found, int) and found not in _READABLE:
        raise parts.OlderModelError(path, found, _FORMAT)
    if found not in _READABLE:
        raise parts.DamagedModelError(path, f"format {_FORMAT}, found {found!r}")
    return content


def refuse_other_release(directory: Path) -> None:
    """Raise ``predictor.parts.OlderModelError`` for a saved model of another release's format.

    The checksums detect other damage.
    """
    try:
        read_description(directory)
    except parts.OlderModelError:
        raise
    except parts.DamagedModelError:
        return


def _sets(kinds: Iterable[str]) -> tuple[dict[str, ModelSet[Any]], BestModels | None]:
    """Return empty sets of models by kind, and, if there are several, the best models of them."""
    sets = {kind: _set_of(kind)() for kind in kinds}
    copy = dict(sets)
    return sets, BestModels(copy, BestModels(copy)) if len(sets) > 1 else None


_Best = Mapping[Point, tuple[Mapping[str, Choice], Any]]
"""By point: the chosen kinds, by key, and their operating points."""


def _best(sets: Mapping[str, ModelSet[Any]]) -> dict[str, Any]:
    """Return the best kinds at each point, if they were chosen, for JSON."""
    best = sets.get(BEST)
    if not isinstance(best, BestModels):
        return {}
    return {
        point: {"choices": best.at(point).choices, "points": _points_of(best.at(point))}
        for point in POINTS
    }


def _read_best(saved: Mapping[Point, Any]) -> _Best:
    """Read what ``_best`` wrote; raise ``ValueError``, ``TypeError`` or ``KeyError`` otherwise."""
    return {
        point: (dict(at_point["choices"]), points_from_json(at_point["points"]))
        for point, at_point in dict(saved).items()
    }


def _needed_kinds(
    saved: Sequence[str], only: str | None, best: Iterable[Mapping[str, Any]]
) -> set[str]:
    """Return the kinds that ``only`` needs for its answers."""
    if only is not None and only in saved:
        return {only}
    choices = (choice for at_point in best for choice in at_point["choices"].values())
    chosen = {kind for choice in choices for kind in choice.values()}
    return chosen if only == BEST and chosen else set(saved)


def _add_loaded(sets: dict[str, ModelSet[Any]], chosen: _Best) -> None:
    """Add the best of ``sets`` to them, if any were chosen."""
    if not chosen:
        return
    built_in = {kind: models for kind, models in sets.items() if kind in KINDS}
    best = BestModels(built_in, BestModels(built_in))
    for point in POINTS:
        choices, points = chosen[point]
        for key, choice in choices.items():
            best.at(point).choose(key, choice)
        best.at(point).points = points
    sets[BEST] = best


def _points(sets: Mapping[str, ModelSet[Any]]) -> dict[str, Any]:
    """Return the operating points of all kinds, for JSON."""
    return {kind: _points_of(models) for kind, models in sets.items() if kind != BEST}


def _points_of(models: ModelSet[Any]) -> dict[HistoryScope, Any]:
    return {
        scope: {key: asdict(points) for key, points in by_key.items()}
        for scope, by_key in models.points.items()
    }


def _order(models: ModelSet[Any], keys: Iterable[str]) -> None:
    """Put models in the order of the predicates, so that equal ones make equal images."""
    for point in POINTS:
        at_point = models.at(point)
        for key in keys:
            at_point[key] = at_point.pop(key)


def _by_key(predicates: Iterable[Predicate]) -> dict[str, Predicate]:
    ordered = sorted(predicates, key=lambda predicate: predicate.subject)
    by_key = {predicate.key: predicate for predicate in ordered}
    if len(by_key) < len(ordered):
        raise ValueError("two predicates about the same subject have the same name")
    return by_key


def _set_of(kind: str) -> type[ModelSet[Any]]:
    if kind not in KINDS:
        raise ValueError(f"no kind of model is called {kind!r}: expected {', '.join(KINDS)}")
    return KINDS[kind].models


def _estimator_set(estimator: Estimator) -> type[ModelSet[Any]]:
    with_pandas()
    from birthmark.predictor.models.estimators.set import models_of  # slow to import

    return models_of(estimator)


def _read_estimators(saved: Iterable[Mapping[str, Any]]) -> dict[str, Estimator]:
    return {estimator.kind: estimator for estimator in map(from_json, saved)}


def _check_named(predicates: Mapping[str, Predicate]) -> None:
    for key, predicate in predicates.items():
        if predicate.config is None and key not in BUILT_IN:
            raise ValueError(
                f"predicate {key!r} cannot be saved: expected a function that can be imported,"
                " in a module, not in a notebook"
            )


def _predicate(saved: dict[str, Any]) -> Predicate:
    if saved["config"] is not None:
        return from_config(saved["config"])
    return BUILT_IN[saved["key"]]
