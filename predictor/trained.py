"""The whole set of models that is trained, published and served together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from birthmark.data.common.plurals import counted
from birthmark.data.common.without_pandas import with_pandas
from birthmark.features import History, from_directories, from_files, from_names
from birthmark.features.told import Told
from birthmark.predictor import histories, parts, saved_images
from birthmark.predictor.allocation import hot_name as hint_models
from birthmark.predictor.answers import certainty
from birthmark.predictor.answers.certainty import Said
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.answers.point import PLAIN, POINTS, PROMISED, Point
from birthmark.predictor.fit.calibration import Holdout, points_from_json
from birthmark.predictor.fit.learning import Learner, Lesson, LocalLearner
from birthmark.predictor.fit.thresholds import Limits
from birthmark.predictor.heat import Heat, directories
from birthmark.predictor.labels import births, tally
from birthmark.predictor.models.best import BestModels, Choice
from birthmark.predictor.models.estimators.estimator import Estimator, estimators_of, from_json
from birthmark.predictor.models.kinds import BEST, KINDS, Kind
from birthmark.predictor.models.model_set import Answer, ModelSet, spared, told_by_key
from birthmark.predictor.parameters import Parameters
from birthmark.predictor.predicates import BUILT_IN, Predicate, from_config
from birthmark.predictor.predicates.predicate import Subject
from birthmark.predictor.predicates.worlds import Worlds, worlds_of

_FORMAT = 4
_FILE = "model.json"
_CREATES = {"file": from_files, "name": from_names, "directory": from_directories}


class TrainedModel:
    """One model per kind and predicate, learned from the same lives.

    Predicates go by their keys: ``lock`` is about files, ``name:lock`` about names. The parameters
    are those of ``predictor.parameters.Parameters``, given by name; ``ValueError`` refuses others.
    Thresholds are chosen on births by models that did not learn from them, a share ``calibration``
    at a time (``predictor.fit.calibration``; 0: not at all), so that false positives are at most
    ``bound`` of all files, and false negatives ``false_negative_bound``, each with ``confidence``
    (``predictor.fit.thresholds``).

    What was seen of earlier births (``features.History``) is told with each create, and kept, so
    that the next period's are told of these: ``creates`` goes on from it.

    After ``fit`` or ``load``: ``kinds``; ``predicates`` by key, and the ``worlds`` in which they
    hold (``predictor.predicates.worlds``); ``models`` by kind, then key;
    ``estimators`` of the user's, by kind, of which a load has the models only if it is asked to;
    ``tallies`` by key, of the labels learned from (``predictor.labels.tally``); ``histories`` by
    subject, ``file`` and ``name``; ``heat`` (``predictor.heat``); and ``hints``, by kind, what
    answers HotName for file systems (``predictor.allocation.hot_name``), if HotName is a predicate.
    """

    def __init__(self, **parameters: Any) -> None:
        self.parameters = Parameters(**parameters).model_dump()
        self.limits = Limits.of(self.parameters)
        self.predicates: dict[str, Predicate] = {}
        self.worlds: list[Worlds] = []
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
        """The kinds of models that were trained; of several, also ``best``, made of them.

        ``best`` is made of kinds that are built in: what a service can answer by.
        """
        return tuple(self.models)

    def fit(
        self,
        files: pa.Table,
        names: pa.Table,
        predicates: Iterable[Predicate] | None = None,
        kinds: Sequence[str] = tuple(KINDS),
        learner: Learner | None = None,
        estimators: Mapping[str, Any] = {},
    ) -> TrainedModel:
        """Learn ``predicates`` from the births in two tables.

        By default they are the built-in ones about files and names. Those about directories, and
        ``heat``, are learned from the directories that ``files`` tells of
        (``predictor.heat.directories``), better so if it has their own rows, too, and those of
        files that were there before: what is hinted of files is learned from all.

        ``files`` and ``names`` have the columns of ``data.schema``. Rows whose label is unknown
        are left out, predicate by predicate, and counted in ``tallies``. ``learner`` trains the
        models; None: here and now. Whoever does it, they are the same.

        ``estimators`` are further kinds by their words: classifiers of scikit-learn's conventions
        that have ``predict_proba``, or ``predictor.models.estimators.Estimator``. They see the rows
        of ``predictor.models.estimators.set``, and learn each predicate alone.
        """
        learner = learner or LocalLearner()
        if predicates is None:
            predicates = [p for p in BUILT_IN.values() if p.subject != "directory"]
        self.predicates = _by_key(predicates)
        self.worlds = worlds_of(self.predicates)
        self.models, best = _sets(kinds)
        self.estimators = estimators_of(estimators)
        self.models |= {kind: _own_set(own)() for kind, own in self.estimators.items()}
        self.histories = {"file": History(), "name": History()}
        for subject, lives in (("file", files), ("name", names)):
            told = self._told(births(lives), self.histories[subject])
            learner.learn(self.models, self._lesson(subject, told), best)
        if any(predicate.subject == "directory" for predicate in self.predicates.values()):
            learner.learn(self.models, self._lesson("directory", directories(files)), best)
        self.heat = Heat().fit(files)
        hinted: BestModels | None = None
        if hint_models.HOT_NAME in self.predicates:
            self.hints, hinted = _sets(kinds)
            hint_models.train(self.hints, files, self.parameters, learner, hinted)
        learner.finish()
        self._add_best(best, hinted)
        return self

    def _add_best(self, best: BestModels | None, hinted: BestModels | None) -> None:
        """Add what was made of the other kinds, if it was, and put all in order."""
        if best is not None:
            self.models[BEST] = best
        if hinted is not None:
            self.hints[BEST] = hinted
        for models in self.models.values():
            _order(models, self.predicates)

    def _lesson(self, subject: str, lives: pa.Table) -> Lesson:
        asked = [p for p in self.predicates.values() if p.subject == subject]
        labels = {predicate.key: predicate.evaluate(lives) for predicate in asked}
        creates = _CREATES[subject](lives)
        holdout = Holdout.of(lives, self.parameters["calibration"])
        learned = pa.array(holdout.learned)
        self.tallies |= {key: tally(answers.filter(learned)) for key, answers in labels.items()}
        return Lesson(creates, labels, holdout, self.parameters, self.worlds)

    def creates(self, subject: Subject, lives: pa.Table) -> pa.Table:
        """Return the creates of a later period's births, told of what was seen before each.

        ``lives`` is a files or names table in the order of its rows, of which all must be births
        (``predictor.births``), or a table of ``features.DIRECTORIES``, which have no history. The
        model stays as it is.
        """
        if subject != "directory":
            lives = self._told(lives, History.from_table(self.histories[subject].to_table()))
        return _CREATES[subject](lives)

    def _told(self, lives: pa.Table, history: History) -> pa.Table:
        told = history.follow(lives, self.parameters["behind"])
        return lives.append_column("history", told)

    def follow(self, files: pa.Table, names: pa.Table) -> None:
        """Add the births of a later period to the history of those after it; train nothing."""
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
        """Return by key how sure each model of ``keys`` (None: all) is, from 0 to 1, row by row."""
        return self.of_kind(kind).scores(creates, keys)

    def predict(
        self,
        creates: pa.Table,
        kind: str,
        point: Point = PLAIN,
        keys: Iterable[str] | None = None,
    ) -> dict[str, pa.BooleanArray]:
        """Return by key the answers of ``keys`` (None: all) for each row of ``creates``.

        ``creates`` has the columns of ``features.CREATES``; ``point`` says which threshold decides.
        """
        return self.of_kind(kind).predict(creates, point, keys)

    def say(
        self,
        creates: pa.Table,
        kind: str,
        point: Point = PROMISED,
        keys: Iterable[str] | None = None,
        abstaining: Iterable[str] = (),
    ) -> dict[str, Said]:
        """Return by key yes, no or unsure for each row, consistently, and how likely a yes is.

        ``keys`` (None: all) and ``creates`` are as in ``predict``; predicates ``abstaining`` are
        never a yes.
        """
        models = self.of_kind(kind).at(point)
        scores = models.scores(creates, keys)
        told = told_by_key(creates, scores)
        return certainty.say_told(scores, models.points_for, told, self.worlds, point, abstaining)

    def explain(
        self, creates: pa.Table, kind: str, point: Point = PLAIN
    ) -> list[dict[str, Answer]]:
        """Return for each row of ``creates`` every predicate's answer and evidence, by key.

        Of the evidence of a kind, ``KINDS`` has the members. Bytes are given as text, with
        backslash escapes where they are none.
        """
        return self.of_kind(kind).explain(creates, point)

    def rules(self, kind: str, point: Point = PLAIN) -> pa.Table:
        """Return what decides, a table of ``models.model_set.RULES``: see ``ModelSet.rules``."""
        return self.of_kind(kind).rules(point)

    def most_telling(self, rules: pa.Table) -> list[dict[str, Any]]:
        """Return what `rules` returned, those first that spare most errors of a guess.

        Those that spare as many, or none, keep their order.
        """

        def errors(rule: Mapping[str, Any]) -> float:
            return spared(rule, self.tallies[rule["predicate"]])

        return sorted(rules.to_pylist(), key=errors, reverse=True)

    def telling(self, kind: str, point: Point = PLAIN) -> list[dict[str, Any]]:
        """Return the rules that answer otherwise than a guess and spare errors, most first."""
        every = self.most_telling(self.rules(kind, point))
        return [rule for rule in every if spared(rule, self.tallies[rule["predicate"]]) > 0]

    def save(self, directory: Path) -> list[str]:
        """Write the model and its compiled images to files in ``directory``; return their names.

        Estimators that were not loaded are left out. Raises ``ValueError`` for a predicate whose
        function cannot be imported by its name.
        """
        _check_named(self.predicates)
        files = [name for models in self.models.values() for name in models.save(directory)]
        predicates = [
            {"key": key, "config": predicate.config and dict(predicate.config)}
            for key, predicate in self.predicates.items()
        ]
        content = {
            "format": _FORMAT,
            "kinds": [kind for kind in self.kinds if kind in KINDS],
            "estimators": [own.to_json() for k, own in self.estimators.items() if k in self.models],
            "best": _best(self.models),
            "best_hints": _best(self.hints),
            "parameters": self.parameters,
            "predicates": predicates,
            "tallies": self.tallies,
            "points": _points(self.models),
            "hints": _points(self.hints),
        }
        parts.write_json(directory / _FILE, content)
        return [
            _FILE,
            *files,
            *histories.save(directory, self.histories),
            *self.heat.save(directory),
            *hint_models.save(self.hints, directory),
            *saved_images.save(self, directory),
        ]

    @classmethod
    def load(
        cls,
        directory: Path,
        counts: bool = True,
        only: Kind | None = None,
        estimators: bool = False,
    ) -> TrainedModel:
        """Return the model that was saved in ``directory``; if it can be, of one kind ``only``.

        Without ``counts`` it needs less memory, predicts and explains as well, and cannot learn.
        With ``estimators`` it has the user's, too, if it has all kinds: they are pickles, so this
        runs code that is in the files; without, none is run.
        Raises ``predictor.parts.DamagedModelError``, a ``ValueError`` that names the file, where
        a part is missing or not as it was saved.
        """
        path = Path(directory) / _FILE
        content = read_description(Path(directory))
        try:
            model = cls(**content["parameters"])
            model.predicates = {p["key"]: _predicate(p) for p in content["predicates"]}
            model.worlds = worlds_of(model.predicates)
            model.tallies = {key: dict(content["tallies"][key]) for key in model.predicates}
            model.estimators = _read_estimators(content.get("estimators", []))
            there: list[str] = content["kinds"]
            best, hinted_best = content.get("best", {}), content.get("best_hints", {})
            wanted = _wanted(there, only, [*best.values(), *hinted_best.values()])
            chosen, hinted_chosen = _read_best(best), _read_best(hinted_best)
            kinds = {kind: _set_of(kind) for kind in there if kind in wanted}
            if estimators and only is None:
                kinds |= {kind: _own_set(each) for kind, each in model.estimators.items()}
            points = {kind: points_from_json(content["points"][kind]) for kind in kinds}
            hinted = {kind: points_from_json(own) for kind, own in content["hints"].items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise parts.DamagedModelError(
                path, f"the description of a model ({error!r})"
            ) from error
        for kind, models in kinds.items():
            own = models.own(model.parameters)
            model.models[kind] = models.load(path.parent, model.predicates, own, counts)
            _order(model.models[kind], model.predicates)
            model.models[kind].points = points[kind]
            if kind in hinted:
                hints = hint_models.load(models, path.parent, model.parameters, counts)
                hints.points = hinted[kind]
                model.hints[kind] = hints
        if only not in there:
            try:
                _add_loaded(model.models, chosen)
                _add_loaded(model.hints, hinted_chosen)
            except (KeyError, TypeError, AttributeError) as error:
                raise parts.DamagedModelError(path, f"the best kinds ({error!r})") from error
        model.histories = histories.load(path.parent)
        model.heat = Heat.load(path.parent)
        return model


def read_description(directory: Path) -> dict[str, Any]:
    """Return what the model that was saved in a directory says of itself.

    Raises ``predictor.parts.OlderModelError`` for one of another release, whose format is not this
    one's, and ``DamagedModelError`` where there is none.
    """
    path = directory / _FILE
    content: dict[str, Any] = parts.read_json(path)
    found = content.get("format")
    if isinstance(found, int) and found != _FORMAT:
        raise parts.OlderModelError(path, found, _FORMAT)
    if found != _FORMAT:
        raise parts.DamagedModelError(path, f"format {_FORMAT}, found {found!r}")
    return content


def refuse_other_release(directory: Path) -> None:
    """Raise ``predictor.parts.OlderModelError`` for a saved model from which nobody could answer.

    Other damage is for its checksums to tell.
    """
    try:
        read_description(directory)
    except parts.OlderModelError:
        raise
    except parts.DamagedModelError:
        return


def _sets(kinds: Iterable[str]) -> tuple[dict[str, ModelSet[Any]], BestModels | None]:
    """Return sets of models of so many kinds, and if these are several, what is made of them."""
    sets = {kind: _set_of(kind)() for kind in kinds}
    own = dict(sets)
    return sets, BestModels(own, BestModels(own)) if len(sets) > 1 else None


_Best = Mapping[Point, tuple[Mapping[str, Choice], Any]]
"""By point the kinds that were chosen, by key, and their operating points."""


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
    """Return what ``_best`` wrote; raise ``ValueError``, ``TypeError``, ``KeyError`` else."""
    return {
        point: (dict(own["choices"]), points_from_json(own["points"]))
        for point, own in dict(saved).items()
    }


def _wanted(there: Sequence[str], only: str | None, best: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the kinds that it takes to answer as ``only`` does."""
    if only is not None and only in there:
        return {only}
    choices = (choice for own in best for choice in own["choices"].values())
    chosen = {kind for choice in choices for kind in choice.values()}
    return chosen if only == BEST and chosen else set(there)


def _add_loaded(sets: dict[str, ModelSet[Any]], chosen: _Best) -> None:
    """Add the best of ``sets`` to them, if any were chosen."""
    if not chosen:
        return
    own = {kind: models for kind, models in sets.items() if kind in KINDS}
    best = BestModels(own, BestModels(own))
    for point in POINTS:
        choices, points = chosen[point]
        for key, choice in choices.items():
            best.at(point).choose(key, choice)
        best.at(point).points = points
    sets[BEST] = best


def _points(sets: Mapping[str, ModelSet[Any]]) -> dict[str, Any]:
    """Return the operating points of all kinds, for JSON."""
    return {kind: _points_of(models) for kind, models in sets.items() if kind != BEST}


def _points_of(models: ModelSet[Any]) -> dict[Told, Any]:
    return {
        told: {key: asdict(points) for key, points in own.items()}
        for told, own in models.points.items()
    }


def _order(models: ModelSet[Any], keys: Iterable[str]) -> None:
    """Put models in the order of the predicates, so that equal ones make equal images."""
    for point in POINTS:
        own = models.at(point)
        for key in keys:
            own[key] = own.pop(key)


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


def _own_set(estimator: Estimator) -> type[ModelSet[Any]]:
    with_pandas()
    from birthmark.predictor.models.estimators.set import models_of  # slow to import

    return models_of(estimator)


def _read_estimators(saved: Iterable[Mapping[str, Any]]) -> dict[str, Estimator]:
    return {own.kind: own for own in map(from_json, saved)}


def _check_named(predicates: Mapping[str, Predicate]) -> None:
    for key, predicate in predicates.items():
        if predicate.config is None and key not in BUILT_IN:
            raise ValueError(
                f"predicate {key!r} cannot be saved: expected a function that can be imported,"
                " of a module and not of a notebook"
            )


def _predicate(saved: dict[str, Any]) -> Predicate:
    if saved["config"] is not None:
        return from_config(saved["config"])
    return BUILT_IN[saved["key"]]
