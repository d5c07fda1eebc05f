from __future__ import annotations

import numpy as np
import pytest

from birthmark.training.statistics.design_effect import design_effect


def test_the_design_effect_is_how_much_blocks_scatter_beyond_their_rows() -> None:
    random = np.random.default_rng(3)
    rows = np.full(2000, 50.0)
    alike = random.binomial(50, 0.2, 2000).astype(float)
    assert design_effect(alike, rows) == pytest.approx(1, abs=0.15)
    # all rows of a block answer as one: 50 rows are as good as 1
    as_one = 50.0 * (random.random(2000) < 0.2)
    assert design_effect(as_one, rows) == pytest.approx(50, rel=0.1)
    assert design_effect(np.zeros(2000), rows) == 1
