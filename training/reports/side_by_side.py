"""Comparison of versions: differences in training, and accuracy on one dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.training.evaluate.cases import expect_births
from birthmark.training.evaluate.evaluation import evaluate
from birthmark.training.registry.stored import Stored, load
from birthmark.training.registry.versions import Registry

_TRAINED_ON = ("datasets", "servers", "since", "until", "files", "names")


def differences(registry: Registry, versions: Sequence[str]) -> pd.DataFrame:
    """Return the differences between ``versions``: a row for each, a column per version.

    They are settings and data of training, the user's predicates and estimators, and the errors of
    each kind on held-out files, in percent. Values that a version lacks are missing.
    """
    described = {version: _described(load(registry, version)) for version in versions}
    frame = pd.DataFrame(
        {version: pd.Series(own, dtype=object) for version, own in described.items()}
    )
    rows = list(dict.fromkeys(row for own in described.values() for row in own))
    differs = [len({str(own.get(row)) for own in described.values()}) > 1 for row in rows]
    return frame.loc[[row for row, own in zip(rows, differs, strict=True) if own], list(versions)]


def figures(
    registry: Registry, versions: Sequence[str], dataset: Path, estimators: bool = False
) -> pd.DataFrame:
    """Return the figures of ``versions`` on one dataset: rows of ``EVALUATION``, by version.

    ``estimators`` also tests the user's estimators, which runs code from the registry. Raises
    ``ValueError`` for a dataset without a visible creation.
    """
    files, names = read_files(dataset), read_names(dataset)
    expect_births(dataset, files)
    tables = []
    for version in versions:
        model = load(registry, version, estimators).model
        tables.append(evaluate(model, files, names).to_pandas().assign(version=version))
    frame: pd.DataFrame = pd.concat(tables, ignore_index=True)
    return frame[["version", *frame.columns.drop("version")]]


def means(figures: pd.DataFrame) -> pd.DataFrame:
    """Return means over the file predicates common to all versions, in percent.

    A row is a kind of model and a version: accuracy at the accurate operating point, and true and
    false positives at the bounded one.
    """
    files = figures[(figures["subject"] == "file") & (figures["n"] > 0)]
    known = files.groupby("predicate")["version"].nunique()
    shared = files[files["predicate"].isin(known[known == figures["version"].nunique()].index)]
    accurate, bounded = (shared[shared["point"] == each] for each in ("accurate", "bounded"))
    by = ["model", "version"]
    found = accurate.groupby(by, sort=False)[["correct"]].mean()
    found = found.join(bounded.groupby(by)[["true_positives", "false_positives"]].mean())
    return found.sort_index(level=0, sort_remaining=False, kind="stable")


def _described(stored: Stored) -> dict[str, Any]:
    manifest, model = stored.manifest, stored.model
    own = {key: p.config for key, p in model.predicates.items() if p.config is not None}
    return {
        "created": manifest["created"],
        **{key: manifest.get(key) for key in ("serve", "point")},
        **{key: manifest.get("trained_on", {}).get(key) for key in _TRAINED_ON},
        **_prefixed("", manifest.get("settings", {})),
        "predicates": len(model.predicates),
        **_prefixed("predicate ", {key: _asks(config) for key, config in own.items()}),
        **_prefixed(
            "estimator ", {k: _made(each.to_json()) for k, each in model.estimators.items()}
        ),
        **_prefixed("held-out errors, ", manifest.get("held_out_errors", {})),
    }


def _prefixed(prefix: str, described: Mapping[str, Any]) -> dict[str, Any]:
    return {prefix + key: value for key, value in described.items()}


def _asks(config: Mapping[str, Any]) -> str:
    asked = {key: value for key, value in config.items() if key not in ("name", "description")}
    return ", ".join(f"{key} {value}" for key, value in asked.items())


def _made(described: Mapping[str, Any]) -> str:
    parameters = ", ".join(f"{key}={own!r}" for key, own in described.get("parameters", {}).items())
    return f"{described.get('class', described.get('given'))}({parameters})"
