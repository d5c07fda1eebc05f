"""Sizes as people write them."""

from __future__ import annotations

import pytest

from birthmark.data.common.sizes import in_words, size


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4M", 4 << 20), ("0", 0), ("512", 512), ("1.5G", 3 << 29), ("16k", 16384), ("2KiB", 2048)],
)
def test_a_size_is_bytes_or_has_a_binary_unit(text: str, expected: int) -> None:
    assert size(text) == expected


@pytest.mark.parametrize("text", ["4Q", "", "M", "-1", "1e3", "4 MB 2", "٤M"])
def test_invalid_sizes_are_refused_with_the_expected_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no size: expected bytes, or a number with K, M, G"):
        size(text)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, "0 bytes"),
        (1023, "1,023 bytes"),
        (4 << 20, "4 MB"),
        (3 << 29, "1.5 GB"),
        (1 << 50, "1,024 TB"),
    ],
)
def test_bytes_are_shown_as_a_size(count: int, expected: str) -> None:
    assert in_words(count) == expected
