"""A user's estimator: its class, parameters and name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from birthmark.data.common.choices import expect
from birthmark.data.common.references import imported
from birthmark.predictor.models.kinds import BEST, KINDS

GROUP = "birthmark.estimators"
"""The group of entry points by which a package offers classes of estimators."""

_KEYS = ("kind", "class", "parameters")
_WORD = re.compile(r"[a-z][a-z0-9_-]{0,31}")


@dataclass(frozen=True)
class Estimator:
    """A kind of models that are estimators of one class.

    ``reference`` names the class (``data.common.references``), or a function that returns an
    estimator for ``parameters``; ``None``: an estimator that was ``given``. ``made`` imports it.
    """

    kind: str
    reference: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    given: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or not _WORD.fullmatch(self.kind):
            raise ValueError(
                "an estimator needs a kind, a word of a-z, 0-9, - and _ that begins with a letter,"
                f" but has {self.kind!r}"
            )
        if self.kind in (*KINDS, BEST):
            raise ValueError(f"estimator {self.kind!r}: this kind is built in: choose another word")

    def made(self) -> Any:
        """Return an unfitted estimator.

        Raises ``ValueError``, naming the kind, if the class cannot be imported, refuses its
        parameters, or has no ``predict_proba``.
        """
        from sklearn.base import clone  # slow to import

        try:
            made = self._constructed() if self.given is None else self.given
            if not hasattr(made, "predict_proba"):
                raise ValueError(f"{type(made).__name__}: expected an estimator with predict_proba")
            return clone(made)
        except (TypeError, ValueError) as error:
            raise ValueError(f"estimator {self.kind!r}: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """Return the configuration; for an estimator that was given, only its class."""
        if self.reference is not None:
            return {"kind": self.kind, "class": self.reference, "parameters": dict(self.parameters)}
        given = type(self.given)
        return {"kind": self.kind, "given": f"{given.__module__}:{given.__qualname__}"}

    def _constructed(self) -> Any:
        if self.reference is None:
            raise ValueError("it was given in Python, not named, so it cannot be made again")
        return imported(self.reference, GROUP)(**self.parameters)


def from_config(config: Mapping[str, Any]) -> Estimator:
    """Return the estimator that a table of the configuration describes.

    Keys: ``kind``, its name; ``class``, as ``sklearn.linear_model:LogisticRegression``, or an entry
    point of the group ``birthmark.estimators``; and its ``parameters``, by name.

    >>> from_config({"kind": "nearest", "class": "sklearn.neighbors:KNeighborsClassifier"}).kind
    'nearest'

    Raises ``ValueError``, naming the kind and the key, for anything else.
    """
    estimator = Estimator(config.get("kind", ""), str(config.get("class")))
    for key in sorted(config):
        expect(f"setting of estimator {estimator.kind!r}", key, _KEYS)
    reference, parameters = config.get("class"), config.get("parameters", {})
    if not isinstance(reference, str) or not reference:
        raise ValueError(
            f"estimator {estimator.kind!r}: class: expected package.module:Class,"
            f" found {reference!r}"
        )
    if not isinstance(parameters, Mapping):
        raise ValueError(
            f"estimator {estimator.kind!r}: parameters: expected a table of them by name"
        )
    return Estimator(estimator.kind, reference, dict(parameters))


def from_json(saved: Mapping[str, Any]) -> Estimator:
    """Read what ``to_json`` wrote; an estimator that was given cannot be made again."""
    return Estimator(saved["kind"]) if "given" in saved else from_config(saved)


def estimators_of(given: Mapping[str, Any]) -> dict[str, Estimator]:
    """Return estimators by kind; scikit-learn's are wrapped in ``Estimator``."""
    return {
        kind: estimator if isinstance(estimator, Estimator) else Estimator(kind, given=estimator)
        for kind, estimator in given.items()
    }
