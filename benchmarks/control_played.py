"""Streams as ``benchmarks.control`` played them, and what each who answered made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.control_streams import Stream
from birthmark.data.common.arrays import Bools, Ints
from birthmark.predictor.control import Controller, ControlSettings
from birthmark.training.statistics.bootstrap import blocks_of, interval, resampled

WHO = ("served", "static", "best")
"""Sources of answers: the control, the calibrated threshold, and the best one in hindsight."""

WINDOW = 1000
"""Births of a running share, and of the stretch that must keep the bound to be back within it."""


@dataclass(frozen=True)
class Played:
    """A stream, and by ``WHO`` the answers for its births."""

    stream: Stream
    answers: dict[str, Bools]

    def row(self, test: str, bound: float, noon: int | None) -> dict[str, Any]:
        """Return the figures, for JSON: shares of ``n``, and whether they are ``over`` the bound.

        ``back_after`` is the number of births from ``noon`` on until the bound holds again.
        """
        predicate, scope = self.stream.row
        row = {"test": test, "predicate": predicate, "scope": scope, "n": len(self.stream.truths)}
        return row | {who: self._figures(who, bound, noon) for who in WHO}

    def _figures(self, who: str, bound: float, noon: int | None) -> dict[str, Any]:
        wrong = self.wrong(who)
        found: dict[str, Any] = {
            "false_positives": float(wrong.mean()),
            "true_positives": float((self.answers[who] & self.stream.truths).mean()),
            "over": over(wrong, self.stream.born, bound),
        }
        if noon is not None:
            found["back_after"] = self._back_after(wrong, noon, bound)
        return found

    def wrong(self, who: str) -> Bools:
        """Return which births got a yes that was false."""
        return self.answers[who] & ~self.stream.truths

    def _back_after(self, wrong: Bools, noon: int, bound: float) -> int | None:
        first = int(np.searchsorted(self.stream.born, noon))
        sums = np.convolve(wrong[first:], np.ones(WINDOW), "valid")
        remaining = np.flatnonzero(sums <= bound * WINDOW)
        return int(remaining[0]) if len(remaining) else None


def over(wrong: Bools, born: Ints, bound: float) -> bool:
    """Return whether more births are ``wrong`` than a share ``bound``, and than chance explains.

    Beyond chance is what the lower end of the 95% interval is beyond, by blocks of time.
    """
    if not len(wrong) or wrong.mean() <= bound:
        return False
    blocks = blocks_of(born)
    false, n = resampled([blocks.sums(wrong), blocks.sums(np.ones(len(wrong)))])
    ends = interval(false / n, blocks.count, 1.0)
    return bool(ends and ends[0] > bound)


def play(streams: Sequence[Stream], settings: ControlSettings) -> Iterator[Played]:
    """Play streams, each under a controller that starts from its calibrated threshold."""
    for stream in streams:
        best = stream.answers(stream.best(settings.bound))
        answers = (
            stream.controlled(Controller(stream.static, settings)),
            stream.answers(stream.static),
            best,
        )
        yield Played(stream, dict(zip(WHO, answers, strict=True)))
