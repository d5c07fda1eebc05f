from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import pyarrow as pa
from birthmark.predictor.models.toy.model import Share

from birthmark.predictor import parts
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.image.format import Section
from birthmark.predictor.image.rules import ImageRule, RulesSection
from birthmark.predictor.models.model_set import ModelSet

_FILE = "toy.json"


class ToyModels(ModelSet[Share]):
    kind = "toy"
    model = Share
    parameters = ()

    @staticmethod
    def columns(creates: pa.Table) -> pa.Table:
        return creates.select(["name"])

    def evidence(self, creates: pa.Table) -> list[dict[str, tuple[float, dict[str, Any]]]]:
        row = {key: (model.share_, {"share_of_all": model.share_}) for key, model in self.items()}
        return [row] * len(creates)

    @classmethod
    def sections(cls, models: Mapping[str, Share], cuts: Mapping[str, Scores]) -> list[Section]:
        scores = {key: int((cuts[key] <= model.share_).sum()) for key, model in models.items()}
        rules = [ImageRule(key, "any", b"", least=score) for key, score in scores.items()]
        return [RulesSection(rules)]

    def save(self, directory: parts.Part) -> list[str]:
        content = {key: model.share_ for key, model in self.items()}
        parts.write_json(directory / _FILE, content)
        return [_FILE]

    @classmethod
    def load(
        cls, directory: parts.Part, keys: Iterable[str], parameters: Mapping[str, Any], counts: bool
    ) -> Self:
        shares, models = parts.read_json(directory / _FILE), cls()
        for key in keys:
            models[key] = Share()._prepared(["name"])
            models[key].share_ = shares[key]
        return models
