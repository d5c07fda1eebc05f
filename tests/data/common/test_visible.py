"""Escapes for untrusted text that people see."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from birthmark.data.common.visible import visible, visible_lines


def test_printable_text_does_not_change() -> None:
    assert visible("größer [bold] :x: \\x1b") == "größer [bold] :x: \\x1b"


def test_control_and_direction_characters_are_escaped() -> None:
    assert visible("a\x1b[31m\r\n\x7f\x9b\u202e\u2066b") == r"a\x1b[31m\r\n\x7f\x9b\u202e\u2066b"


def test_bytes_of_a_name_that_are_no_text_are_shown() -> None:
    assert visible(b"caf\xe9".decode("utf-8", "surrogateescape")) == r"caf\xe9"


@given(st.text(st.characters()))
def test_all_that_is_shown_prints_and_is_not_escaped_twice(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert visible(shown) == shown


def test_lines_stay_lines() -> None:
    assert visible_lines("a\x1b\nb\r") == "a\\x1b\nb\\r"
