from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from birthmark.serving.settings import Settings, variable


def test_by_default_the_service_listens_only_to_its_host() -> None:
    assert Settings().host == "127.0.0.1"


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("port", 65536),
        ("port", -1),
        ("poll_seconds", 0),
        ("max_body_bytes", 0),
        ("model", "boosted"),
        ("host", ""),
        ("region", "4Q"),
        ("prot", 80),
    ],
)
def test_a_setting_out_of_its_bounds_is_refused(setting: str, value: Any) -> None:
    with pytest.raises(ValidationError, match=setting):
        Settings(**{setting: value})


def test_every_setting_has_a_description_and_is_in_the_guide() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "serving.md").read_text()
    for name, field in Settings.model_fields.items():
        assert field.description
        assert variable(name) in guide
        assert f"`--{name.replace('_', '-')}`" in guide
