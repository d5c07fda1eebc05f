"""Which suffixes are hot and which are cold, by what a model has counted.

Cold is a suffix of whose files it is likely that they stay: that more than half of its births live
for longer than half a minute (``SHORT``), which is about when data reach the disk, and are not
written over and over (``REWRITTEN``). That is the lower confidence limit that the model's own rules
have (Wilson 1927). What a cold list takes from the log of hot data, where F2FS puts all that is
written in small pieces, are files that would stay there when the rest is dead.

Nothing is hot, for that log takes short-lived data and long-lived ones alike. Only where it does
not (``min_hot_blocks`` 0) it pays to have a hot list, of suffixes whose files die young, have data,
and to be surer of both lists: three in four of the births are expected to be so.

A list takes the surest first, as long as the upper confidence limit of the births that it is wrong
about, of all births, is within the model's bound: of the hot list those that live longer, and the
bound on false positives; of the cold one those that are written over and over, and the bound on
false negatives. (What dies before it reaches the disk costs nothing in any log.) Both are counted
on the births that the model learned from, and by the kernel's rule of what names have a suffix.
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

_SURE, _LIKELY = 0.75, 0.5
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


def learn(model: Counted, abstaining: Iterable[str] = (), hot: bool = False) -> Learned:
    """Return the lists that a model makes, which was loaded with its counts.

    ``hot`` says whether the log of hot data is that of hot files alone, and there is a hot list; so
    there is none where the model abstains from saying that lives are short. Raises ``ValueError``
    for a model that has not learned the predicates, or by rules.
    """
    rules = model.of_kind(KIND)
    if lacking := [key for key in (SHORT, LOCK, REWRITTEN) if key not in rules]:
        raise ValueError(f"expected a model that has learned {', '.join(lacking)}")
    births = Births(rules)
    judge = _Judge(births, model.parameters, _SURE if hot else _LIKELY)
    found = judge.surest("cold")
    if hot and SHORT not in abstaining:
        found += judge.surest("hot")
    kept = sorted(found, key=lambda own: (-own.agree, own.extension))[:MOST]
    lists = {t: [own for own in kept if own.temperature == t] for t in ("cold", "hot")}
    rows = births.having(own.extension for own in lists["cold"])
    others = births.having(own.extension for own in lists["hot"]) & ~rows
    said = {"cold": judge.said("cold", rows), "hot": judge.said("hot", others)}
    return Learned(tuple(kept), int(births.all.sum()), said["hot"], said["cold"])


class _Judge:
    """Says which suffixes a list takes, each of a share of ``least``, and how often it is wrong."""

    def __init__(self, births: Births, parameters: Mapping[str, Any], least: float) -> None:
        self._births, self._confidence = births, parameters["confidence"]
        self._bounds = {"hot": parameters["bound"], "cold": parameters["false_negative_bound"]}
        self._least = least

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
        wrong = float(self._births.against(temperature)[rows].sum())
        total = int(self._births.all.sum())
        upper = upper_limits(np.array([[wrong]]), total, self._confidence)[0] if total else 1.0
        return Said(int(births), int(wrong), float(upper), self._bounds[temperature])

    def _sure(self, temperature: Temperature) -> Iterator[Suffix]:
        """Yield the suffixes of which that share is expected, and whose files have data."""
        births, agreeing = self._births, self._births.agreeing(temperature)
        for extension, rows in births.rows.items():
            n_a, n_m = births.all[rows].sum(), agreeing[rows].sum()
            lower = interval(np.array([n_m]), np.array([n_a]), births.level)[0][0]
            empty = births.locks[rows].sum() if temperature == "hot" else 0
            if lower >= self._least and n_m - empty >= _LEAST_DATA:
                yield Suffix(extension, temperature, int(n_a), int(n_m), float(lower))
