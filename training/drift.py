"""Where a bound on false positives did not hold: more of them than sampling allows."""

from __future__ import annotations

from collections.abc import Sequence

from scipy.special import betainc

from training.bootstrap import Floats, design_effect

ALPHA = 0.05
"""The chance, over all predicates of a model, to call a bound broken that holds."""


def excess(alarms: Floats, rows: Floats, bound: float) -> float:
    """Return how likely so many false positives are, or more, where their rate is `bound`.

    `alarms` and `rows` are counts per block of time; `bound` is a share. It is the exact one-sided
    binomial test, on as many independent rows as the blocks' differences leave: both counts are
    divided by the design effect (J. Rao and A. Scott, "A simple method for the analysis of
    clustered binary data", Biometrics 48, 1992). Its tail is the incomplete beta function, which
    takes counts that are no whole numbers.
    """
    effect = design_effect(alarms, rows)
    k, n = alarms.sum() / effect, rows.sum() / effect
    if k <= 0 or n <= 0:
        return 1.0
    return float(betainc(k, n - k + 1, bound)) if k <= n else 0.0


def broken(chances: Sequence[float | None], alpha: float = ALPHA) -> list[bool]:
    """Return which bounds are broken, for chances from `excess`; None cannot be.

    All together are wrongly called so with chance `alpha` at most (S. Holm, "A simple sequentially
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
