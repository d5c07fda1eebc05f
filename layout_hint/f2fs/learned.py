"""Which suffixes are hot and which are cold, by what a model has counted.

Hot is a suffix of which it is sure that the file's data die young (``SHORT``: within half a minute,
which is about when they reach the disk); cold is one of which it is sure that they do not, and are
not written over and over (``REWRITTEN``). Sure is a suffix of whose births at least three in four
are expected to be so, by the lower confidence limit that the model's own rules have (Wilson 1927).

A list takes the surest first, as long as the upper confidence limit of the births that it is wrong
about, of all births, is within the model's bound: of the hot list that on false positives, of the
cold one that on false negatives. Both are counted on the births that the model learned from, and by
the kernel's rule of what names have a suffix.
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
"""The kind of models whose counts are asked, and whose level of confidence counts."""

MKFS_ROOM = 24
"""How many extensions ``mkfs.f2fs`` has room for behind its own forty (f2fs-tools 1.15)."""

_SURE = 0.75
_LEAST_DATA = 1.0


class Counted(Protocol):
    """The parts of ``TrainedModel`` that lists are made of."""

    parameters: dict[str, Any]

    def of_kind(self, kind: str) -> ModelSet[Any]:
        """Return the models of ``kind``; raise ``ValueError`` where there are none."""


@dataclass(frozen=True)
class Suffix:
    """A suffix of a list, with its evidence.

    Of ``births`` files whose names have it, ``agree`` became what the list says, and at least the
    share ``lower`` of such files are expected to.
    """

    extension: str
    temperature: Temperature
    births: int
    agree: int
    lower: float


@dataclass(frozen=True)
class Said:
    """What a whole list says: of so many births, and of how many wrongly.

    ``upper`` is the upper confidence limit of the wrong ones, as a share of all births, and
    ``bound`` what it is kept within.
    """

    births: int
    wrong: int
    upper: float
    bound: float


@dataclass(frozen=True)
class Learned:
    """The lists that a model makes, the evidence of each suffix, and what each list says.

    ``births`` are all that the model learned from with a name and a known end.
    """

    suffixes: tuple[Suffix, ...]
    births: int
    hot: Said
    cold: Said

    @property
    def lists(self) -> Lists:
        """The lists, the suffixes of most births first."""
        return Lists(*(self._of(temperature) for temperature in ("cold", "hot")))

    def mkfs_options(self) -> str:
        """Return them as options of ``mkfs.f2fs``: those of most births for which it has room.

        It puts them behind its own.
        """
        first = Learned(self.suffixes[:MKFS_ROOM], self.births, self.hot, self.cold).lists
        named = {"-e": first.cold, "-E": first.hot}
        return " ".join(f"{option} {','.join(own)}" for option, own in named.items() if own)

    def _of(self, temperature: str) -> tuple[str, ...]:
        return tuple(own.extension for own in self.suffixes if own.temperature == temperature)


def learn(model: Counted, abstaining: Iterable[str] = ()) -> Learned:
    """Return the lists that a model makes, which was loaded with its counts.

    Where it abstains from saying that lives are short, no suffix is hot. Raises ``ValueError`` for
    a model that has not learned the predicates, or by rules.
    """
    rules = model.of_kind(KIND)
    if lacking := [key for key in (SHORT, LOCK, REWRITTEN) if key not in rules]:
        raise ValueError(f"expected a model that has learned {', '.join(lacking)}")
    births = Births(rules)
    judge = _Judge(births, model.parameters)
    cold = judge.surest("cold")
    hot = [] if SHORT in abstaining else judge.surest("hot")
    kept = sorted([*cold, *hot], key=lambda own: (-own.agree, own.extension))[:MOST]
    lists = {t: [own for own in kept if own.temperature == t] for t in ("cold", "hot")}
    rows = births.having(own.extension for own in lists["cold"])
    others = births.having(own.extension for own in lists["hot"]) & ~rows
    said = {"cold": judge.said("cold", rows), "hot": judge.said("hot", others)}
    return Learned(tuple(kept), int(births.all.sum()), said["hot"], said["cold"])


class _Judge:
    """Says which suffixes a list takes, and how often that is wrong."""

    def __init__(self, births: Births, parameters: Mapping[str, Any]) -> None:
        self._births, self._confidence = births, parameters["confidence"]
        self._bounds = {"hot": parameters["bound"], "cold": parameters["false_negative_bound"]}

    def surest(self, temperature: Temperature) -> list[Suffix]:
        """Return the suffixes that a list takes: the surest, within the bound."""
        births, claimed = self._births, np.zeros(len(self._births.all), dtype=np.bool_)
        taken = []
        for suffix in sorted(self._sure(temperature), key=lambda own: (-own.lower, own.extension)):
            more = claimed | births.having([suffix.extension])
            said = self.said(temperature, more)
            if said.births > int(births.all[claimed].sum()) and said.upper <= said.bound:
                claimed = more
                taken.append(suffix)
        return taken

    def said(self, temperature: Temperature, rows: Bools) -> Said:
        """Return what a list says that means these names."""
        births = float(self._births.all[rows].sum())
        wrong = births - float(self._births.agreeing(temperature)[rows].sum())
        total = int(self._births.all.sum())
        upper = upper_limits(np.array([[wrong]]), total, self._confidence)[0] if total else 1.0
        return Said(int(births), int(wrong), float(upper), self._bounds[temperature])

    def _sure(self, temperature: Temperature) -> Iterator[Suffix]:
        """Yield the suffixes of which it is sure, and whose files have data."""
        births, agreeing = self._births, self._births.agreeing(temperature)
        for extension, rows in births.rows.items():
            n_a, n_m = births.all[rows].sum(), agreeing[rows].sum()
            lower = interval(np.array([n_m]), np.array([n_a]), births.level)[0][0]
            empty = births.locks[rows].sum() if temperature == "hot" else 0
            if lower >= _SURE and n_m - empty >= _LEAST_DATA:
                yield Suffix(extension, temperature, int(n_a), int(n_m), float(lower))
