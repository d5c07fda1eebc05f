"""What each path of the service needs."""

from __future__ import annotations

import pytest
from fastapi.routing import APIRoute

from birthmark.serving.access.paths import PATHS, changes, needed, own_errors
from birthmark.serving.app.routes import router
from birthmark.serving.page.routes import router as pages


def test_all_paths_of_the_service_are_listed() -> None:
    routes: dict[str, set[str]] = {}
    for route in [*router.routes, *pages.routes]:
        assert isinstance(route, APIRoute)
        routes.setdefault(route.path, set()).update(route.methods)
    assert PATHS.keys() == routes.keys()
    for path, access in PATHS.items():
        assert access.changed_by is None or access.changed_by in routes[path]


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
