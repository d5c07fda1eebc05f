"""An estimator of one's own: which class, with which parameters, and the word that it goes by."""

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

    ``reference`` names the class (``data.common.references``), or what returns an estimator when it
    is called with ``parameters``; ``None``: an estimator that was ``given``. Nothing is imported
    before ``made``.
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
        """Return an estimator that has learned nothing.

        Raises ``ValueError``, naming the kind, where the class cannot be imported, refuses its
        parameters, or cannot tell how likely a yes is.
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
        """Return what configures it; of one that was given the class alone is told."""
        if self.reference is not None:
            return {"kind": self.kind, "class": self.reference, "parameters": dict(self.parameters)}
        own = type(self.given)
        return {"kind": self.kind, "given": f"{own.__module__}:{own.__qualname__}"}

    def _constructed(self) -> Any:
        if self.reference is None:
            raise ValueError("it was given in Python, not named, so it cannot be made again")
        return imported(self.reference, GROUP)(**self.parameters)


def from_config(config: Mapping[str, Any]) -> Estimator:
    """Return the estimator that a table of the configuration describes.

    Keys: ``kind``, the word that it goes by; ``class``, as ``sklearn.linear_model:
    LogisticRegression`` without the blank, or an entry point of the group ``birthmark.estimators``;
    and its ``parameters``, by name.

    >>> from_config({"kind": "nearest", "class": "sklearn.neighbors:KNeighborsClassifier"}).kind
    'nearest'

    Raises ``ValueError``, naming the kind and the key, for anything else.
    """
    own = Estimator(config.get("kind", ""), str(config.get("class")))
    for key in sorted(config):
        expect(f"setting of estimator {own.kind!r}", key, _KEYS)
    reference, parameters = config.get("class"), config.get("parameters", {})
    if not isinstance(reference, str) or not reference:
        raise ValueError(
            f"estimator {own.kind!r}: class: expected package.module:Class, found {reference!r}"
        )
    if not isinstance(parameters, Mapping):
        raise ValueError(f"estimator {own.kind!r}: parameters: expected a table of them by name")
    return Estimator(own.kind, reference, dict(parameters))


def from_json(saved: Mapping[str, Any]) -> Estimator:
    """Return what ``to_json`` wrote; of one that was given, an estimator that cannot be made."""
    return Estimator(saved["kind"]) if "given" in saved else from_config(saved)


def estimators_of(given: Mapping[str, Any]) -> dict[str, Estimator]:
    """Return estimators by kind: such as are described already, and scikit-learn's."""
    return {
        kind: own if isinstance(own, Estimator) else Estimator(kind, given=own)
        for kind, own in given.items()
    }
