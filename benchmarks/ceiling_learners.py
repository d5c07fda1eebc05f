"""Learners of ``benchmarks.ceiling``, and the parameters that its search draws from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.preprocessing import QuantileTransformer

from benchmarks.learners import Scorer, as_used, boosted, light_gbm
from birthmark.features.encoding import CODED, COLUMNS, UNSEEN
from birthmark.predictor.models.forest.model import LOOKED_AT

NUMBERS = [c for c in LOOKED_AT if COLUMNS[c] not in CODED]
CODES = [c for c in LOOKED_AT if COLUMNS[c] in CODED]
VALUES = [len(COLUMNS), len(COLUMNS) + 1]
"""The columns of a row: those of ``COLUMNS``, then numbers for the whole name and its shape."""

MEMBERS, BATCH = 16, 512
"""TabM: number of networks that share weights, and of rows in a step."""


@dataclass(frozen=True)
class Candidate:
    """A learner: ``learn`` takes rows, labels, a seed and parameters drawn from ``space``.

    It needs the package ``needs``. If ``shared``, one model learns all predicates.
    """

    needs: str
    learn: Callable[..., Scorer]
    space: Mapping[str, Any]
    shared: bool = True


def forest(matrix: Any, labels: Any, seed: int) -> Scorer:
    """Return the scorer of the forest as it is served, with its default parameters."""
    predict, _ = as_used(_bytes(matrix), labels, seed)
    return lambda rows: predict(_bytes(rows))


def _bytes(rows: Any) -> Any:
    return rows[:, : len(COLUMNS)].astype(np.uint8)


def boosting(model: Callable[..., Any], categories: str) -> Callable[..., Scorer]:
    """Return the learner that boosts trees; ``categories`` is the model's name for these columns.

    With ``values``, it sees the whole name and the shape as well.
    """

    def learn(matrix: Any, labels: Any, seed: int, values: bool, **parameters: Any) -> Scorer:
        columns = NUMBERS + CODES + (VALUES if values else [])
        parameters[categories] = list(range(len(NUMBERS), len(columns)))
        one = boosted(lambda seed: model(seed, **parameters), columns, lambda _: 0)
        return one(matrix, labels, seed)[0]

    return learn


def cat_boost(seed: int, **parameters: Any) -> Any:
    from catboost import CatBoostClassifier

    fixed = {"thread_count": 1, "verbose": 0, "allow_writing_files": False}
    return CatBoostClassifier(random_seed=seed, **fixed, **parameters)


def tab_m(
    matrix: Any, labels: Any, seed: int, epochs: int, lr: float, weight_decay: float, **network: Any
) -> Scorer:
    """Return the scorer of TabM: networks with one output per predicate."""
    import torch
    from tabm import TabM

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    quantiles = QuantileTransformer(output_distribution="normal", random_state=seed)
    quantiles.fit(matrix[:, NUMBERS])
    sizes = matrix[:, CODES].max(axis=0) + 1

    def tensors(rows: Any) -> tuple[Any, Any]:
        codes = np.where(rows[:, CODES] < sizes, rows[:, CODES], UNSEEN)
        numbers = quantiles.transform(rows[:, NUMBERS])
        return torch.tensor(numbers, dtype=torch.float32), torch.tensor(codes, dtype=torch.int64)

    sides = {"n_num_features": len(NUMBERS), "cat_cardinalities": sizes.tolist()}
    model = TabM.make(**sides, d_out=labels.shape[1], k=MEMBERS, **network)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    inputs, answers = tensors(matrix), torch.tensor(labels, dtype=torch.float32)[:, None]
    for _ in range(epochs):
        for some in torch.randperm(len(answers)).split(BATCH):
            out = model(*(part[some] for part in inputs))
            expected = answers[some].expand_as(out)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(out, expected)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    model.eval()

    def predict(rows: Any) -> Any:
        parts = zip(*(part.split(BATCH) for part in tensors(rows)), strict=True)
        with torch.no_grad():
            return torch.cat([model(*part).sigmoid().mean(1) for part in parts]).numpy()

    return predict


CANDIDATES = {
    "forest, as served": Candidate("sklearn", forest, {}),
    "LightGBM": Candidate(
        "lightgbm",
        boosting(partial(light_gbm, n_jobs=1), "categorical_feature"),
        {
            "values": [False, True],
            "n_estimators": randint(60, 300),
            "learning_rate": loguniform(0.02, 0.2),
            "num_leaves": [15, 31, 63, 127],
            "min_child_samples": [5, 20, 50],
            "colsample_bytree": uniform(0.1, 0.5),
            "reg_lambda": loguniform(0.01, 100),
            "cat_smooth": loguniform(1, 100),
        },
        shared=False,
    ),
    "CatBoost": Candidate(
        "catboost",
        boosting(cat_boost, "cat_features"),
        {
            "values": [False, True],
            "iterations": randint(80, 200),
            "learning_rate": loguniform(0.05, 0.3),
            "depth": [4, 6, 8],
            "rsm": uniform(0.1, 0.3),
            "l2_leaf_reg": loguniform(1, 30),
            "max_ctr_complexity": [1, 2],
        },
        shared=False,
    ),
    "TabM": Candidate(
        "tabm",
        tab_m,
        {
            "epochs": [3, 5, 8],
            "lr": loguniform(5e-4, 5e-3),
            "weight_decay": loguniform(1e-4, 1e-1),
            "n_blocks": [1, 2, 3],
            "d_block": [64, 128, 192],
            "dropout": [0.0, 0.1, 0.3],
        },
    ),
}
