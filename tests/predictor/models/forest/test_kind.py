from __future__ import annotations

from birthmark.predictor.models.forest.kind import in_words


def test_a_forest_is_told_by_what_moved_it_most() -> None:
    because = [
        {"column": "mode", "value": 0o600, "by": 0.31},
        {"column": "name.share_1s", "value": 255, "by": -0.02},
    ]
    said = in_words({"share": 0.82, "usual": 0.25, "rows": 1200, "because": because})
    assert said == ("82% of files like it, 25% of all: mode 0600 +31%, name.share_1s 255 -2%")
