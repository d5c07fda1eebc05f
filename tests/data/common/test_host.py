"""Any host name is usable in a file's name and in a message."""

from __future__ import annotations

import re
import socket

import pytest

from birthmark.data.common.host import host_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("files-1.example.org", "files-1.example.org"),
        ("a/b c\n\udcff", "a_b_c__"),
        ("x" * 255, "x" * 48),
        ("..", ".."),
    ],
)
def test_a_name_keeps_what_every_file_and_message_can_have(
    name: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: name)
    assert host_name() == expected


@pytest.mark.parametrize("name", ["", "(none)"])
def test_a_host_without_a_name_always_has_the_same_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: name)
    assert re.fullmatch("[0-9a-f]{12}", host_name())
    assert host_name() == host_name()
