"""What `birthmark` itself offers to programs."""

from __future__ import annotations

import pytest

import birthmark


@pytest.mark.parametrize("name", birthmark.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(birthmark, name) is not None


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        birthmark.nothing  # noqa: B018
