"""Systems that serve files: their loads beside what is printed of the traces, and their answers.

Tests also research/attached/loads.py, research/attached/systems.py.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from birthmark.research.attached import COSTS, NFS, WEB, System, compare, serve
from birthmark.research.settings import AttachedOptions

SERVER = System()
NET = System(organization="net_disk")

TRACE = """\
0.5 Attr READ FID: 00ab00cd00000001 OFF: 0 SIZE: 96 HOST: 3
1.5 Block READ FID: 00ab00cd00000002 OFF: 0 SIZE: 4096 HOST: 3
2.5 Open READ FID: 00ab00cd00000002 OFF: 8192 SIZE: 0 HOST: 3
2.5 Block READ FID: 00ab00cd00000002 OFF: 0 SIZE: 4096 HOST: 4
"""


def test_the_load_of_nfs_is_what_is_printed_of_the_trace() -> None:
    load = serve(SERVER, NFS, requests=150_000)["load"]
    assert load["requests"] / load["seconds"] == pytest.approx(6_302_418 / 40 / 3600, rel=0.03)
    assert load["metadata_requests"] / load["requests"] == pytest.approx(0.75, abs=0.01)
    assert load["metadata_bytes"] / load["bytes"] == pytest.approx(0.54, abs=0.02)
    assert load["bytes"] / load["requests"] == pytest.approx(10_100 * 2**20 / 6_302_418, rel=0.03)


def test_the_load_of_the_web_is_what_is_printed_of_the_trace() -> None:
    load = serve(SERVER, WEB, requests=100_000)["load"]
    assert load["requests"] / load["seconds"] == pytest.approx(2_955_038 / 236 / 3600, rel=0.03)
    assert load["bytes"] / load["requests"] == pytest.approx(27_810 * 2**20 / 2_955_038, rel=0.1)
    assert load["metadata_requests"] == 0


def test_the_parts_are_all_of_the_response() -> None:
    for system in (SERVER, NET):
        found = serve(system, NFS, requests=20_000)
        assert sum(found["parts_ms"].values()) == pytest.approx(found["response"]["mean_ms"])
        assert sum(found["data_parts_ms"].values()) == pytest.approx(found["data"]["mean_ms"])


def test_the_same_seed_gives_the_same_figures_and_another_gives_others() -> None:
    one, again, other = (serve(NET, NFS, requests=20_000, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one["response"] != other["response"]


def test_caches_that_were_warmed_up_hit_more() -> None:
    cold, warm = (serve(SERVER, NFS, requests=20_000, warm_up=each) for each in (0, 200_000))
    assert warm["hit_ratio"] > cold["hit_ratio"] + 0.1


def test_a_trace_is_served_compressed_or_not(tmp_path: Path) -> None:
    plain, packed = tmp_path / "trace", tmp_path / "trace.gz"
    plain.write_text(TRACE)
    packed.write_bytes(gzip.compress(TRACE.encode()))
    found = serve(SERVER, plain)
    assert found == serve(SERVER, packed)
    assert (found["load"]["requests"], found["hit_ratio"]) == (3, 0.5)
    # Table 1: attributes, a miss with its disk and bus, and a hit
    mean = (0.015 + (0.14 + 0.05 + 15 + 0.1 + 0.2) + (0.06 + 0.2)) / 3
    assert found["response"]["mean_ms"] == pytest.approx(mean)


def test_a_line_that_is_none_is_named_with_its_file(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text(TRACE + "3 Block\n")
    with pytest.raises(ValueError, match=f"{trace}: line 5: expected TIME"):
        serve(SERVER, trace)


def test_a_disk_can_be_a_drive_and_costs_can_be_of_today() -> None:
    constant = serve(SERVER, NFS, requests=20_000)
    real = serve(SERVER, NFS, requests=20_000, drive="cheetah9LP")
    assert 0 < real["parts_ms"]["disk"] < constant["parts_ms"]["disk"]
    today = serve(replace(SERVER, costs=COSTS["today"]), NFS, requests=20_000)
    assert today["parts_ms"]["disk"] < constant["parts_ms"]["disk"] / 100


def test_a_system_that_there_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="manager_mips: expected"):
        serve(replace(SERVER, manager_mips=0), NFS, requests=1)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "birthmark", "research", "attached", *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_the_command_compares_both_organizations(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text(TRACE)
    run = command(str(trace))
    assert (run.returncode, run.stderr) == (0, "")
    rows = [row.replace("│", " ").split() for row in run.stdout.splitlines()]
    assert ["server:", "data", "2", "7.875"] in [row[:4] for row in rows]
    assert "network: 50.0 % of blocks in a cache" in run.stdout
    run = command(str(trace), "--json", "--manager-mips", "100")
    found = json.loads(run.stdout)
    assert found == compare(str(trace), AttachedOptions(manager_mips=100))
    assert found["server_disk"] == serve(System(manager_mips=100), trace)
    assert found["net_disk"]["response"] != found["server_disk"]["response"]


def test_a_trace_that_there_is_not_is_refused() -> None:
    run = command("nowhere")
    assert run.returncode == 1
    assert (
        run.stderr == "birthmark: expected nfs, web, or a trace; found nowhere, which is no file\n"
    )


def test_a_trace_without_requests_and_no_trace_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.aus"
    empty.write_text("")
    with pytest.raises(ValueError, match=f"{empty}: expected requests behind the warm-up's, found"):
        compare(str(empty), AttachedOptions())
    with pytest.raises(ValueError, match="expected nfs, web, or a trace; found bogus, which is no"):
        compare("bogus", AttachedOptions())
