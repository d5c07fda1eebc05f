"""Learning hot and cold suffixes from a model's counts.

A suffix is cold if its files are likely to stay: if more than half of its births live for longer
than half a minute (``SHORT``), about when data reach the disk, and are not rewritten
(``REWRITTEN``). The test uses the lower confidence limit of the model's own rules (Wilson 1927).
F2FS puts all data written in small pieces into the log of hot data. A cold list takes files from
there that would outlive the rest.

Nothing is hot by default, because that log mixes short-lived and long-lived data. With a separate
log (``min_hot_blocks`` 0) a hot list pays off, of suffixes whose files die young and have data.
Both lists then need three in four of the births.

A list takes the most certain suffixes first, while the upper confidence limit of its wrong births,
as a share of all births, is within the model's bound. For the hot list these are births that live
longer, with the bound on false positives; for the cold one, rewritten births, with the bound on
false negatives. (Data that die before they reach the disk cost nothing in any log.) Both are
counted on the training births, by the kernel's rule for suffixes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from birthmark.data.common.arrays import Bools
from birthmark.layout_hint.f2fs.births import LOCK, REWRITTEN, SHORT, Births
from birthmark.layout_hint.f2fs.extensions import MOST, Lists, Temperature
from birthmark.predictor.fit.thresholds import upper_limits
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.models.rules.model import interval
from birthmark.training.config import LISTED

KIND = LISTED
"""The type of models whose counts and confidence level are used."""

MKFS_ROOM = 24
"""Number of extensions for which ``mkfs.f2fs`` has room after its own forty (f2fs-tools 1.15)."""

_SURE, _LIKELY = 0.75, 0.5
_LEAST_DATA = 1.0


class Counted(Protocol):
    """The parts of ``TrainedModel`` that lists are learned from."""

    parameters: dict[str, Any]

    def of_kind(self, kind: str) -> ModelSet[Any]:
        """Return the models of ``kind``; raise ``ValueError`` if there are none."""


@dataclass(frozen=True)
class Suffix:
    """A suffix of a list, with its evidence.

    ``births`` files have it; ``agree`` of them match the list's temperature, and at least the share
    ``lower`` of future ones are expected to.
    """

    extension: str
    temperature: Temperature
    births: int
    agree: int
    lower: float


@dataclass(frozen=True)
class Claim:
    """The births that a whole list claims, and the wrong ones among them.

    ``upper`` is the upper confidence limit of the wrong ones, as a share of all births, and
    ``bound`` its limit.
    """

    births: int
    wrong: int
    upper: float
    bound: float


@dataclass(frozen=True)
class Learned:
    """The lists learned from a model, with the evidence of each suffix and list.

    ``births`` are all training births with a name and a known end.
    """

    suffixes: tuple[Suffix, ...]
    births: int
    hot: Claim
    cold: Claim

    @property
    def lists(self) -> Lists:
        """The lists, suffixes with most births first."""
        return Lists(*(self._of(temperature) for temperature in ("cold", "hot")))

    def mkfs_options(self) -> str:
        """Return them as options of ``mkfs.f2fs``: those with most births, as many as fit.

        ``mkfs.f2fs`` appends them to its own.
        """
        first = Learned(self.suffixes[:MKFS_ROOM], self.births, self.hot, self.cold).lists
        named = {"-e": first.cold, "-E": first.hot}
        return " ".join(f"{option} {','.join(own)}" for option, own in named.items() if own)

    def _of(self, temperature: str) -> tuple[str, ...]:
        return tuple(own.extension for own in self.suffixes if own.temperature == temperature)


def learn(model: Counted, abstaining: Iterable[str] = (), hot: bool = False) -> Learned:
    """Return the lists of a model that was loaded with its counts.

    ``hot``: whether the log of hot data is for hot files only, so that there is a hot list; not if
    the model abstains from short lives. Raises ``ValueError`` for a model that has not learned the
    predicates, or has no rules.
    """
    rules = model.of_kind(KIND)
    if lacking := [key for key in (SHORT, LOCK, REWRITTEN) if key not in rules]:
        raise ValueError(f"expected a model that has learned {', '.join(lacking)}")
    births = Births(rules)
    judge = _Judge(births, model.parameters, _SURE if hot else _LIKELY)
    found = judge.surest("cold")
    if hot and SHORT not in abstaining:
        found += judge.surest("hot")
    suffixes = sorted(found, key=lambda own: (-own.agree, own.extension))[:MOST]
    lists = {t: [own for own in suffixes if own.temperature == t] for t in ("cold", "hot")}
    rows = births.having(own.extension for own in lists["cold"])
    others = births.having(own.extension for own in lists["hot"]) & ~rows
    claims = {"cold": judge.claim("cold", rows), "hot": judge.claim("hot", others)}
    return Learned(tuple(suffixes), int(births.all.sum()), claims["hot"], claims["cold"])


class _Judge:
    """Selects the suffixes of a list, each with a share of ``least``, and bounds its errors."""

    def __init__(self, births: Births, parameters: Mapping[str, Any], least: float) -> None:
        self._births, self._confidence = births, parameters["confidence"]
        self._bounds = {"hot": parameters["bound"], "cold": parameters["false_negative_bound"]}
        self._least = least

    def surest(self, temperature: Temperature) -> list[Suffix]:
        """Return the suffixes of a list: the most certain ones, within the bound."""
        births, claimed = self._births, np.zeros(len(self._births.all), dtype=np.bool_)
        suffixes = []
        for suffix in sorted(self._sure(temperature), key=lambda own: (-own.lower, own.extension)):
            more = claimed | births.having([suffix.extension])
            claim = self.claim(temperature, more)
            if claim.births > int(births.all[claimed].sum()) and claim.upper <= claim.bound:
                claimed = more
                suffixes.append(suffix)
        return suffixes

    def claim(self, temperature: Temperature, rows: Bools) -> Claim:
        """Return the claim of a list that matches these names."""
        births = float(self._births.all[rows].sum())
        wrong = float(self._births.against(temperature)[rows].sum())
        total = int(self._births.all.sum())
        upper = upper_limits(np.array([[wrong]]), total, self._confidence)[0] if total else 1.0
        return Claim(int(births), int(wrong), float(upper), self._bounds[temperature])

    def _sure(self, temperature: Temperature) -> Iterator[Suffix]:
        """Yield the suffixes with at least that share whose files have data."""
        births, agreeing = self._births, self._births.agreeing(temperature)
        for extension, rows in births.rows.items():
            n_a, n_m = births.all[rows].sum(), agreeing[rows].sum()
            lower = interval(np.array([n_m]), np.array([n_a]), births.level)[0][0]
            empty = births.locks[rows].sum() if temperature == "hot" else 0
            if lower >= self._least and n_m - empty >= _LEAST_DATA:
                yield Suffix(extension, temperature, int(n_a), int(n_m), float(lower))
