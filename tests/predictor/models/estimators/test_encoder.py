from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from birthmark.features import from_files, from_requests
from birthmark.features.encoding import Encoding
from birthmark.predictor import FILE_PREDICATES, CreateEncoder, TimeBlocks
from birthmark.predictor.models.estimators.set import FEATURES, encoded
from tests.builders.lives import MONDAY, day_of_lives, files_of

FILES = files_of(*day_of_lives(MONDAY, each=20))
CREATES = from_files(FILES)


def test_it_is_the_encoding_that_estimators_are_fitted_to() -> None:
    rows = CreateEncoder().fit_transform(CREATES)
    assert rows.equals(encoded(Encoding.learn(CREATES), CREATES))
    assert list(rows.columns) == CreateEncoder().get_feature_names_out().tolist() == FEATURES


def test_a_data_frame_is_encoded_as_an_arrow_table_is() -> None:
    frame = CREATES.to_pandas().sample(frac=1, random_state=0)
    rows = CreateEncoder().fit(CREATES).transform(frame)
    assert rows.index.equals(frame.index)
    assert rows.sort_index().equals(CreateEncoder().fit_transform(CREATES))
    assert CreateEncoder().fit(frame).transform(CREATES).equals(rows.sort_index())


def test_unknown_values_may_be_missing() -> None:
    asked = from_requests([{"name": b"inbox.lock"}, {"name": b"core", "uid": 1}])
    rows = CreateEncoder().fit(CREATES).transform(asked.to_pandas())
    assert rows.equals(CreateEncoder().fit(CREATES).transform(asked))
    assert rows["uid"].nunique() == 2


def test_it_learns_in_a_pipeline_only_from_what_is_learned_from() -> None:
    pipeline = make_pipeline(CreateEncoder(), DecisionTreeClassifier())
    answers = FILE_PREDICATES["lock"].evaluate(FILES).to_numpy(zero_copy_only=False)
    frame = CREATES.to_pandas()
    scores = cross_val_score(pipeline, frame, answers, cv=TimeBlocks(4, gap=0))
    assert np.array_equal(scores, np.ones(4))
    assert not hasattr(clone(pipeline.fit(frame, answers))[0], "encoding_")


def test_a_table_without_the_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="the table has no column 'name'"):
        CreateEncoder().fit(pd.DataFrame({"mode": [1]}))
