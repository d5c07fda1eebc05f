"""Other learners on the same create-time columns, to compare the models with.

Each has equally many candidate settings. The best of them on the calibration slice (least log loss)
is used for each predicate. LightGBM is left out where it is not
installed: ``pip install '.[bench]'``.
"""

from __future__ import annotations

import importlib.util
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from joblib import Parallel, delayed
from scipy.sparse import csr_matrix, hstack
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits
from typing_extensions import override

from birthmark.features import name_pieces
from birthmark.features.columns import decoded

FOLDED = re.compile(rb"[0-9]+|(?<![0-9A-Za-z])[0-9a-fA-F]{4,}(?![0-9A-Za-z])")
KNOWN = ("dir_fh", "dir_name", "mode", "uid", "gid", "client")
WORDS = (*KNOWN, "name", "first", "middle", "last", "shape", "shape_end")
"""The columns that are categories; ``shape_end`` is the last six bytes of the folded name."""

RARE = 3
"""Values of a column that fewer training rows have are one value: rare."""

Labels = Mapping[str, pa.BooleanArray]
Scores = dict[str, np.ndarray]


class Columns:
    """The create-time columns of lives, as the peers take them.

    ``words`` is a matrix of text, a column for each of ``WORDS``; ``numbers`` is one with columns
    for the length, periods and digits of the name, the hour, and each byte of the history.
    """

    def __init__(self, creates: pa.Table) -> None:
        names = decoded(creates["name"])
        self.names: list[bytes] = [name or b"" for name in names.to_pylist()]
        folded = [FOLDED.sub(b"#", name) for name in self.names]
        pieces = name_pieces(names)
        made = {"name": names, "shape": folded, "shape_end": [each[-6:] for each in folded]}
        values = (made.get(c, pieces.get(c, creates[c] if c in KNOWN else None)) for c in WORDS)
        self.words = np.column_stack([_words(each) for each in values])
        own = [
            [len(name), name.count(b"."), sum(byte in b"0123456789" for byte in name)]
            for name in self.names
        ]
        hour = pc.hour(creates["time"]).to_numpy().reshape(-1, 1)
        numbers = np.array(own, np.float32).reshape(-1, 3)
        self.numbers = np.hstack([numbers, hour, _history(creates)]).astype(np.float32)


def _words(values: Any) -> np.ndarray:
    listed = values if isinstance(values, list) else values.to_pylist()
    return np.array(["" if value is None else str(value) for value in listed], dtype=object)


def _history(creates: pa.Table) -> np.ndarray:
    """Return the history's bytes, a column each; of a table without, no columns."""
    if "history" not in creates.column_names or creates["history"].null_count == len(creates):
        return np.empty((len(creates), 0))
    values = pc.drop_null(creates["history"]).to_pylist()
    wide = np.zeros((len(creates), len(values[0])), np.uint8)
    held = creates["history"].is_valid().to_numpy()
    wide[held] = np.frombuffer(b"".join(values), np.uint8).reshape(len(values), -1)
    return wide


class Peer:
    """A learner with one of its candidate ``SETTINGS``; a classifier per predicate."""

    name: ClassVar[str]
    SETTINGS: ClassVar[Sequence[dict[str, Any]]]

    def __init__(self, seed: int, **setting: Any) -> None:
        self.seed, self.setting = seed, setting
        self.models: dict[str, Any] = {}

    def prepare(self, columns: Columns) -> Any:
        """Learn how columns become a matrix; return that of ``columns``."""
        raise NotImplementedError

    def matrix(self, columns: Columns) -> Any:
        """Return the matrix of other columns."""
        raise NotImplementedError

    def learner(self) -> Any:
        """Return a classifier of scikit-learn's conventions."""
        raise NotImplementedError

    def fit_matrix(self, matrix: Any, labels: Labels) -> Peer:
        """Learn every predicate from the rows whose label is known.

        Processes learn a predicate each, on one core: threads of one learner wait for each other,
        most of all on a machine that does something else besides.
        """
        tasks = (delayed(self._fit_known)(matrix, _known(answers)) for answers in labels.values())
        self.models = dict(zip(labels, Parallel(n_jobs=os.cpu_count())(tasks), strict=True))
        return self

    def _fit_known(self, matrix: Any, result: tuple[np.ndarray, np.ndarray]) -> Any:
        known, truth = result
        return self.fit_one(matrix[known], truth)

    def fit_one(self, matrix: Any, truth: np.ndarray) -> Any:
        """Return a trained classifier, or the only answer there is."""
        if len(np.unique(truth)) < 2:
            return float(truth[0]) if len(truth) else 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self.learner().fit(matrix, truth)

    def scores_of(self, matrix: Any) -> Scores:
        """Return by predicate how likely each row is to be a yes."""
        with threadpool_limits(1):
            return {
                key: np.full(matrix.shape[0], model)
                if isinstance(model, float)
                else np.asarray(model.predict_proba(matrix)[:, 1], np.float64)
                for key, model in self.models.items()
            }

    def fit(self, columns: Columns, labels: Labels) -> Peer:
        """Learn every predicate."""
        return self.fit_matrix(self.prepare(columns), labels)

    def scores(self, columns: Columns) -> Scores:
        """Return by predicate how likely each row is to be a yes."""
        return self.scores_of(self.matrix(columns))


class _Coded(Peer):
    """Categories as numbers, most of them as they come; unseen ones are missing."""

    MOST: ClassVar[int | None] = None

    @override
    def prepare(self, columns: Columns) -> Any:
        self.coder = OrdinalEncoder(
            handle_unknown="use_encoded_value",
            unknown_value=np.nan,
            min_frequency=RARE,
            max_categories=self.MOST,
        ).fit(columns.words)
        return self.matrix(columns)

    @override
    def matrix(self, columns: Columns) -> Any:
        codes = self.coder.transform(columns.words)
        return np.hstack([codes.astype(np.float32), columns.numbers])


class Tree(_Coded):
    """scikit-learn's decision tree."""

    name = "tree"
    SETTINGS = (
        {"min_samples_leaf": 5},
        {"min_samples_leaf": 20},
        {"min_samples_leaf": 50},
    )

    @override
    def learner(self) -> Any:
        return DecisionTreeClassifier(random_state=self.seed, **self.setting)


class Histogram(_Coded):
    """scikit-learn's histogram gradient boosting, with native categories (255 at most)."""

    name = "histogram"
    MOST = 254
    SETTINGS = (
        {"max_leaf_nodes": 31},
        {"max_leaf_nodes": 63, "min_samples_leaf": 50},
        {"max_leaf_nodes": 15, "learning_rate": 0.2},
    )

    @override
    def learner(self) -> Any:
        return HistGradientBoostingClassifier(
            early_stopping=False,
            max_iter=60,
            max_features=0.2,
            categorical_features=list(range(len(WORDS))),
            random_state=self.seed,
            **self.setting,
        )


class LightGBM(_Coded):
    """LightGBM with native categories."""

    name = "lightgbm"
    SETTINGS = (
        {"num_leaves": 31, "learning_rate": 0.1, "n_estimators": 60},
        {"num_leaves": 31, "learning_rate": 0.05, "n_estimators": 120},
        {"num_leaves": 63, "learning_rate": 0.1, "n_estimators": 60, "min_child_samples": 50},
    )

    @override
    def fit_one(self, matrix: Any, truth: np.ndarray) -> Any:
        if len(np.unique(truth)) < 2:
            return super().fit_one(matrix, truth)
        return self.learner().fit(matrix, truth, categorical_feature=list(range(len(WORDS))))

    @override
    def learner(self) -> Any:
        from lightgbm import LGBMClassifier

        return LGBMClassifier(
            colsample_bytree=0.3,
            subsample=0.5,
            subsample_freq=1,
            deterministic=True,
            n_jobs=1,
            random_state=self.seed,
            verbose=-1,
            **self.setting,
        )

    @override
    def scores_of(self, matrix: Any) -> Scores:
        with warnings.catch_warnings():
            # it was given no names of columns, and says at each prediction that it has some
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return super().scores_of(matrix)


class Logistic(Peer):
    """Logistic regression over hashed n-grams of the name, and the other columns one-hot."""

    name = "logistic"
    SETTINGS = ({"C": 0.1}, {"C": 1.0}, {"C": 10.0})

    @override
    def prepare(self, columns: Columns) -> Any:
        self.hasher = HashingVectorizer(
            analyzer="char_wb", ngram_range=(2, 4), n_features=2**16, encoding="latin-1"
        )
        self.coder = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=RARE)
        self.coder.fit(columns.words)
        self.low = columns.numbers.min(axis=0, initial=0)
        self.span = np.maximum(columns.numbers.max(axis=0, initial=1) - self.low, 1)
        return self.matrix(columns)

    @override
    def matrix(self, columns: Columns) -> Any:
        numbers = csr_matrix((columns.numbers - self.low) / self.span)
        grams = self.hasher.transform(columns.names)
        return hstack([grams, self.coder.transform(columns.words), numbers]).tocsr()

    @override
    def learner(self) -> Any:
        return LogisticRegression(max_iter=30, tol=1e-3, random_state=self.seed, **self.setting)


PEERS: tuple[type[Peer], ...] = (Tree, Histogram, LightGBM, Logistic)


def available() -> list[type[Peer]]:
    """Return the peers that can run here."""
    found = importlib.util.find_spec("lightgbm") is not None
    return [peer for peer in PEERS if found or peer is not LightGBM]


class Tuned:
    """The candidates of one peer, the best of them selected for each predicate."""

    def __init__(self, peer: type[Peer], seed: int, budget: int) -> None:
        self.candidates = [peer(seed, **setting) for setting in peer.SETTINGS[:budget]]
        self.best: dict[str, int] = {}

    def fit(self, columns: Columns, labels: Labels, held: Columns, truth: Labels) -> Scores:
        """Train on ``columns``; choose by, and return, the scores of the rows ``held``."""
        matrix = self.candidates[0].prepare(columns)
        other = self.candidates[0].matrix(held)
        scores = [each.fit_matrix(matrix, labels).scores_of(other) for each in self.candidates]
        for key, answers in truth.items():
            losses = [_loss(each[key], answers) for each in scores]
            self.best[key] = int(np.argmin(losses))
        return {key: scores[best][key] for key, best in self.best.items()}

    def scores(self, columns: Columns) -> Scores:
        """Return the scores of the best candidate for each predicate."""
        matrix = self.candidates[0].matrix(columns)
        found: Scores = {}
        for number, candidate in enumerate(self.candidates):
            remaining = {key for key, best in self.best.items() if best == number}
            candidate.models = {k: m for k, m in candidate.models.items() if k in remaining}
            found |= candidate.scores_of(matrix)
        return found


def _known(answers: pa.BooleanArray) -> tuple[np.ndarray, np.ndarray]:
    """Return which answers are known, and these."""
    known = answers.is_valid().to_numpy(zero_copy_only=False)
    return known, answers.drop_null().to_numpy(zero_copy_only=False).astype(bool)


def _loss(scores: np.ndarray, answers: pa.BooleanArray) -> float:
    known, truth = _known(answers)
    return float(log_loss(truth, scores[known], labels=[False, True])) if len(truth) else 0.0
