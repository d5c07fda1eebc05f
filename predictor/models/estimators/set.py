"""The estimators of all predicates.

They are fitted to the rows of bytes of ``features.encoding``, with the columns that the forest
uses.

They are saved as a pickle, as usual for scikit-learn's estimators. Loading one runs any code in it,
so they are loaded only on request, and never by a service. They cannot be compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import pyarrow as pa

from birthmark.data.common.arrays import Bools
from birthmark.features.creates import of_names
from birthmark.features.encoding import COLUMNS, Encoding
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.models.estimators.estimator import Estimator
from birthmark.predictor.models.forest.model import LOOKED_AT, SEEN
from birthmark.predictor.models.learned import Learned
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.parts import DamagedModelError, Part
from birthmark.predictor.predicates.predicate import is_about_names

FEATURES = [COLUMNS[place].replace(" ", "_") for place in LOOKED_AT]
"""The names of the columns that estimators see."""

_FORMAT = 1


@dataclass
class Fitted(Learned):
    """An estimator fitted to one predicate's labels, over rows of ``encoding_``.

    ``estimator_`` is None if all labels were ``only_``: most estimators refuse a single class.
    """

    encoding_: Encoding
    estimator_: Any
    only_: bool = False

    @classmethod
    def to(cls, estimator: Any, encoding: Encoding, rows: pd.DataFrame, yes: Bools) -> Self:
        """Fit an estimator to ``rows`` and where the answer is yes, and return the model."""
        if yes.all() or not yes.any():
            return cls(encoding, None, bool(len(yes) and yes[0]))
        return cls(encoding, estimator.fit(rows, yes))

    def scored(self, rows: pd.DataFrame) -> Scores:
        """Return the score of a yes for each encoded row."""
        if self.estimator_ is None or not len(rows):
            return np.full(len(rows), float(self.only_))
        yes = list(self.estimator_.classes_).index(True)
        return np.asarray(self.estimator_.predict_proba(rows)[:, yes], dtype=np.float64)

    def scores(self, table: pa.Table) -> Scores:
        """Return for each row of ``SEEN`` the score of a yes."""
        return self.scored(encoded(self.encoding_, table))


class EstimatorModels(ModelSet[Fitted]):
    """One fitted estimator per predicate; ``models_of`` makes a class of it for each kind."""

    parameters = ("seed",)
    estimator: ClassVar[Estimator]

    @staticmethod
    def columns(creates: pa.Table) -> pa.Table:
        """Return the columns that are encoded."""
        return creates.select(list(SEEN))

    def train(
        self, columns: pa.Table, labels: Mapping[str, pa.BooleanArray], **parameters: Any
    ) -> None:
        """Fit an estimator to each of ``labels``; all see the same rows."""
        encoding = Encoding.learn(columns)
        rows = encoded(encoding, columns)
        for key, answers in labels.items():
            known = answers.is_valid().to_numpy(zero_copy_only=False)
            yes = answers.drop_null().to_numpy(zero_copy_only=False).astype(bool)
            estimator = _seeded(self.estimator.made(), parameters["seed"])
            self[key] = Fitted.to(estimator, encoding, rows[known], yes)

    def scores(self, creates: pa.Table, keys: Iterable[str] | None = None) -> dict[str, Scores]:
        """Return for each row the scores of the estimators of ``keys`` (None: all), 0 to 1."""
        rows: dict[int, pd.DataFrame] = {}
        scores = {}
        for key in self if keys is None else keys:
            fitted = self[key]
            if id(fitted.encoding_) not in rows:  # it is of one subject, files or names
                table = of_names(creates) if is_about_names(key) else creates
                rows[id(fitted.encoding_)] = encoded(fitted.encoding_, self.columns(table))
            scores[key] = fitted.scored(rows[id(fitted.encoding_)])
        return scores

    def evidence(self, creates: pa.Table) -> list[dict[str, tuple[float, dict[str, Any]]]]:
        """Return the scores; an estimator has no other evidence."""
        scores = self.scores(creates)
        return [
            {
                key: (float(fitted[row]), {"score": float(fitted[row])})
                for key, fitted in scores.items()
            }
            for row in range(len(creates))
        ]

    def save(self, directory: Part) -> list[str]:
        """Write the fitted estimators as one pickle of joblib's."""
        import joblib

        encodings = list(
            {id(fitted.encoding_): fitted.encoding_ for fitted in self.values()}.values()
        )
        places = {id(encoding): place for place, encoding in enumerate(encodings)}
        models = {
            key: (places[id(fitted.encoding_)], fitted.estimator_, fitted.only_)
            for key, fitted in self.items()
        }
        content = {
            "format": _FORMAT,
            "encodings": [encoding.to_table() for encoding in encodings],
            "models": models,
        }
        joblib.dump(content, directory / file_of(self.kind), compress=3)
        return [file_of(self.kind)]

    @classmethod
    def load(
        cls, directory: Part, keys: Iterable[str], parameters: Mapping[str, Any], counts: bool
    ) -> Self:
        """Return the saved estimators. This runs the code in their files.

        Raises ``ValueError`` if their package is not installed.
        """
        import joblib

        path = directory / file_of(cls.kind)
        try:
            content = joblib.load(path)
            encodings = [Encoding.from_table(table) for table in content["encodings"]]
            models = {key: content["models"][key] for key in keys}
        except ModuleNotFoundError as error:
            raise ValueError(f"{path}: {error}: install the package that has it") from error
        except Exception as error:  # a damaged pickle can raise anything
            raise DamagedModelError(path, f"estimators of kind {cls.kind!r} ({error!r})") from error
        return cls({key: Fitted(encodings[at], *state) for key, (at, *state) in models.items()})


def models_of(estimator: Estimator) -> type[EstimatorModels]:
    """Return the class of sets of an estimator's models."""
    members = {"kind": estimator.kind, "estimator": estimator, "__doc__": EstimatorModels.__doc__}
    return type(f"EstimatorModels of {estimator.kind}", (EstimatorModels,), members)


def file_of(kind: str) -> str:
    """Return the name of the file in which a kind's estimators are saved."""
    return f"estimators-{kind}.joblib"


def encoded(encoding: Encoding, columns: pa.Table) -> pd.DataFrame:
    """Return the ``SEEN`` ``columns`` of creates as the rows that estimators see."""
    return pd.DataFrame(encoding.transform(columns)[:, LOOKED_AT], columns=FEATURES)


def _seeded(estimator: Any, seed: int) -> Any:
    """Return an estimator with the random state ``seed``, unless it already has one."""
    if estimator.get_params().get("random_state", seed) is None:
        return estimator.set_params(random_state=seed)
    return estimator
