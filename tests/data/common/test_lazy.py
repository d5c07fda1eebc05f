"""Lazy exports of packages."""

from __future__ import annotations

from importlib import import_module

import pytest

PACKAGES = [
    "birthmark.data.anonymize",
    "birthmark.data.datasets",
    "birthmark.data.dump",
    "birthmark.data.ingest",
    "birthmark.data.traces",
    "birthmark.serving.app",
    "birthmark.serving.client",
    "birthmark.training.registry",
]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_name_that_a_package_offers_is_there(name: str) -> None:
    package = import_module(name)
    for each in package.__all__:
        assert getattr(package, each).__module__.startswith(name), each


@pytest.mark.parametrize("name", PACKAGES)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(AttributeError, match=f"{name}.*has no attribute 'nothing'"):
        import_module(name).nothing  # noqa: B018
