from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from birthmark.data.common.setting_errors import InvalidError, reasons


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    size: int
    unit: str = "B"

    @model_validator(mode="after")
    def _known(self) -> Inner:
        if self.unit != "B":
            raise ValueError("expected bytes")
        return self


class Outer(BaseModel):
    inner: Inner


def wrong(**inner: object) -> list[str]:
    with pytest.raises(ValidationError) as raised:
        Outer.model_validate({"inner": inner})
    return reasons(raised.value)


def test_a_reason_names_the_place_and_what_was_found() -> None:
    (message,) = wrong(size="much")
    assert message.startswith("inner.size: Input should be a valid integer")
    assert message.endswith(", found 'much'")


def test_our_own_words_stand_alone() -> None:
    assert wrong(size=1, unit="kB") == ["inner: expected bytes"]


def test_a_missing_or_unknown_setting_is_named_without_the_others() -> None:
    assert wrong(sise=1) == ["inner.size: Field required", "inner.sise: there is no such setting"]


def test_each_reason_is_a_line() -> None:
    assert str(InvalidError(["a", "b"])) == "a\nb"
