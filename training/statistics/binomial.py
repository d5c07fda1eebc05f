"""Exact binomial intervals for shares of false positives, and Holm's procedure for many tests.

Errors within a block of time are correlated. So the counts are divided by the design effect (J. Rao
and A. Scott, "A simple method for the analysis of clustered binary data", Biometrics 48, 1992),
which gives the effective number of independent rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from scipy.special import betaincinv, stdtrit

from birthmark.data.common.arrays import Floats
from birthmark.training.statistics.bootstrap import LEVEL
from birthmark.training.statistics.design_effect import design_effect

ALPHA = 0.05
"""Familywise error rate of broken bounds over all predicates of a model."""


def interval(alarms: Floats, rows: Floats, level: float = LEVEL) -> tuple[float, float] | None:
    """Return the confidence interval of a share of false positives at `level`.

    `alarms` and `rows` are counts per block of time. It is the Clopper-Pearson interval, for blocks
    as by E. Korn and B. Graubard (Survey Methodology 24, 1998). Unlike a bootstrap, it has a
    positive upper end without false positives. None for a single block.
    """
    n, blocks = rows.sum(), int((rows > 0).sum())
    if blocks < 2:
        return None
    tail, share, effective = (1 - level) / 2, alarms.sum() / n, n
    effect = design_effect(alarms, rows)
    if effect > 1:
        fewer = (stdtrit(n - 1, tail) / stdtrit(blocks - 1, tail)) ** 2
        effective = max(1.0, n / effect * fewer)
    yes, no = share * effective, (1 - share) * effective
    low = betaincinv(yes, no + 1, tail) if yes > 0 else 0.0
    high = betaincinv(yes + 1, no, 1 - tail) if no > 0 else 1.0
    return float(low), float(high)


def broken(chances: Sequence[float | None], alpha: float = ALPHA) -> list[bool]:
    """Return which hypotheses are rejected, by their p-values; None: never.

    The familywise error rate is at most `alpha` (S. Holm, "A simple sequentially
    rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979).
    """
    found = [False] * len(chances)
    tested = [index for index, chance in enumerate(chances) if chance is not None]
    order = sorted(tested, key=lambda index: chances[index])  # type: ignore[arg-type, return-value]
    for rank, index in enumerate(order):
        chance = chances[index]
        if chance is None or chance > alpha / (len(order) - rank):
            break
        found[index] = True
    return found
