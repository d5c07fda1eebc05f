from __future__ import annotations

import numpy as np

from benchmarks.control_misled import WITHIN, misled, misled_table, with_client
from birthmark.data.common.durations import SECOND
from birthmark.predictor.control import ControlSettings
from tests.benchmarks.test_control_streams import stream


def test_a_client_has_its_births_and_all_others_stay_as_they_were() -> None:
    own = stream()
    every, others = with_client(own, 500, outcome=True)
    assert (others.sum(), (~others).sum()) == (4000, 500)
    for column in ("born", "scores", "truths", "known_at", "counted"):
        assert np.array_equal(getattr(every, column)[others], getattr(own, column))
    assert (np.diff(every.born) >= 0).all()
    client = ~others
    assert np.ptp(every.born[client]) < WITHIN
    assert every.truths[client].all()
    assert (every.scores[client] == own.scores.max()).all()
    assert (every.known_at[client] - every.born[client] == SECOND).all()


def test_a_client_raises_and_lowers_thresholds_of_others() -> None:
    settings = ControlSettings()
    raised, lowered = misled(stream(8000), settings, 8000)
    assert (raised["effect"], lowered["effect"]) == ("raise", "lower")
    assert raised["true_positives_after"] < raised["true_positives_before"]
    assert lowered["false_positives_after"] > lowered["false_positives_before"]
    assert 0 < raised["changed"] <= 1


def test_no_births_change_nothing() -> None:
    rows = misled(stream(), ControlSettings(), 0)
    assert [row["changed"] for row in rows] == [0, 0]
    assert misled_table(rows, 0).row_count == 2
