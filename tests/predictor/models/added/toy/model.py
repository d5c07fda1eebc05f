from __future__ import annotations

import numpy as np
import pyarrow as pa

from birthmark.predictor.models.learned import Answers, Learned, Scores


class Share(Learned):
    """Says yes where most of what it learned from was."""

    def _learn(self, table: pa.Table, positive: Answers) -> None:
        self.share_ = float(positive.mean()) if len(positive) else 0.0

    def scores(self, table: pa.Table) -> Scores:
        return np.full(len(table), self.share_)

    def _is_yes(self, scores: Scores) -> Answers:
        return scores > 0.5
