"""A registry with two published models, and the service on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from birthmark.serving.settings import Settings
from tests.serving.services import certified, publish, served, settings_for, started
from tests.waiting import eventually


@pytest.fixture(scope="session", name="publish")
def publish_fixture() -> Callable[..., str]:
    return publish


@pytest.fixture(scope="session", name="settings_for")
def settings_for_fixture() -> Callable[..., Settings]:
    return settings_for


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings with a registry without a published version."""
    return settings_for(tmp_path / "registry")


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Return a client of a service that tests share: its model stays, its metrics grow."""
    settings = settings_for(
        tmp_path_factory.mktemp("shared") / "registry", max_body_bytes=2_000_000
    )
    publish(settings.registry)
    with served(settings) as client:
        yield client


@pytest.fixture(scope="session", name="served")
def served_fixture() -> Callable[..., Any]:
    return served


@pytest.fixture(scope="session", name="started")
def started_fixture() -> Callable[..., Any]:
    return started


@pytest.fixture(scope="session", name="eventually")
def eventually_fixture() -> Callable[..., bool]:
    return eventually


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a certificate for this host and its key."""
    return certified(tmp_path_factory.mktemp("tls"))
