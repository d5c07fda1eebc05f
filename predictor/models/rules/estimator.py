"""Lists of rules by scikit-learn's conventions."""

from __future__ import annotations

from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.predictor.models.classifier import read_labels
from birthmark.predictor.models.components.counts import TRACE
from birthmark.predictor.models.components.estimator import CountingModel
from birthmark.predictor.models.rules.model import WEIGHTS, RuleList


class RuleModel(RuleList, CountingModel):
    """``RuleList`` as a classifier; older rows may count less."""

    def age(self, days: float) -> Self:
        """Let ``days`` pass: the weight of all learned rows falls by 2^(-``days``/``half_life``).

        Rows that are learned afterwards have full weight, so a nightly ``age(1)`` before
        ``partial_fit`` gives a row of *d* days ago the weight 2^(-*d*/``half_life``). Components of
        less than a millionth of a row are dropped.

        Raises ``ValueError`` for a model without a half-life, or a negative time.
        """
        counts = self._learned()
        weighted = [pc.multiply(counts[n], self._weight(days)) for n in ("n_a", "n_m")]
        aged = pa.table([counts["component"], *weighted], schema=WEIGHTS)
        self._set_counts(aged.filter(pc.greater(aged["n_a"], TRACE)))
        return self

    def forget(self, X: Any, y: Any, days: float = 0) -> Self:
        """Unlearn rows that ``age`` has since made ``days`` older in total.

        Raises ``ValueError``, without a change, if a name was not learned, or not with that label,
        or has less weight than rows of that age.
        """
        table = self._read(X)
        weight = self._weight(days) if days else 1.0
        self._change(table, read_labels(y, len(table)), -weight)
        return self

    def _weight(self, days: float) -> float:
        if self.half_life is None:
            raise ValueError("a model without a half_life does not age")
        if not self.half_life > 0:
            raise ValueError(f"half_life must be None or above 0 days, not {self.half_life!r}")
        if not days >= 0:
            raise ValueError(f"days must be 0 or more, not {days!r}")
        return float(2.0 ** (-days / self.half_life))
