"""Names of users, from the files that sites have."""

from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.data.top.users import names


def test_names_come_from_passwd_or_from_numbers_with_names(tmp_path: Path) -> None:
    """passwd(5): NAME:PASSWORD:UID:GID:GECOS:DIRECTORY:SHELL; + and - are those of NIS."""
    (tmp_path / "users").write_text(
        "root:x:0:0::/root:/bin/sh\n# people\n\n1001 amy\n1002\tben\n+::::::\n0 other\n"
        "1003   Anna van der Meer\n"
    )
    assert names(tmp_path / "users") == {
        0: "root",
        1001: "amy",
        1002: "ben",
        1003: "Anna van der Meer",
    }


@pytest.mark.parametrize("line", ["amy 1001", "amy:x", "1001", "amy:x:one:1", "\x1b[2J"])
def test_lines_without_a_user_are_refused_with_their_number(tmp_path: Path, line: str) -> None:
    (tmp_path / "users").write_text(f"1 one\n{line}\n")
    with pytest.raises(ValueError, match=r"users: line 2: expected NAME:PASSWORD:UID"):
        names(tmp_path / "users")
