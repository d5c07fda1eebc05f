"""What each path of the service needs."""

from __future__ import annotations

import pytest

from birthmark.serving.access.paths import PATHS, changes, needed, own_errors
from birthmark.serving.app.application import create_app
from birthmark.serving.settings import Settings


def test_every_listed_path_is_one_of_the_service() -> None:
    paths = create_app(Settings()).openapi()["paths"]
    assert PATHS.keys() <= paths.keys()
    for path, access in PATHS.items():
        if access.changed_by is not None:
            assert access.changed_by.lower() in paths[path]


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("GET", "/healthz", None),
        ("POST", "/v1/hints", "predict"),
        ("POST", "/v1/hints/report", "report"),
        ("POST", "/v1/history", "follow"),
        ("GET", "/v1/model", "read"),
        ("PUT", "/v1/model", "publish"),
        ("HEAD", "/anything/else", "read"),
        ("DELETE", "/anything/else", "publish"),
    ],
)
def test_a_path_needs_its_scope_and_others_need_that_of_their_method(
    method: str, path: str, scope: str | None
) -> None:
    assert needed(method, path) == scope


def test_only_the_method_that_changes_something_has_errors_of_its_own() -> None:
    assert changes("PUT", "/v1/model")
    assert own_errors("PUT", "/v1/model") == {404, 409}
    assert not changes("GET", "/v1/model")
    assert own_errors("GET", "/v1/model") == own_errors("POST", "/v1/hints") == frozenset()
