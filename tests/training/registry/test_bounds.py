from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from birthmark.training.registry import bounds
from birthmark.training.registry.versions import Registry, RegistryError


def audit(server: str, **standings: str) -> dict[str, Any]:
    rows = [
        {"version": "v", "subject": "file", "predicate": key, "n": 9, "standing": standing}
        for key, standing in standings.items()
    ]
    return {"servers": [server], "version": "v", "figures": rows}


def test_each_servers_newest_audit_counts_and_of_several_servers_the_worst(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    audits = [
        audit("a", lock="shown broken"),
        audit("b", lock="above it today", hot="holds"),
        audit("a", lock="holds", hot="not enough seen"),
    ]
    bounds.keep(registry, audits)
    assert bounds.read(registry) == {"lock": "above it today", "hot": "not enough seen"}


def test_nothing_is_known_before_the_first_audit(tmp_path: Path) -> None:
    assert bounds.read(Registry(tmp_path)) == {}


@pytest.mark.parametrize("content", ["{", "[]", '{"lock": "well"}'])
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "bounds.json").write_text(content)
    with pytest.raises(RegistryError, match=r"bounds\.json: expected standings"):
        bounds.read(Registry(tmp_path))
