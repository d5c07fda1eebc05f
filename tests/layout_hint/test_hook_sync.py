"""Creates that wait in user space: the deadline and the breaker, by a clock that tests set."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.layout_hint.test_hook import HOOK, build


@pytest.fixture(scope="session")
def sync_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the synchronous query, with a clock and a service that tests control."""
    source = str(Path(__file__).with_name("hook_sync.c"))
    sources = [source, str(HOOK / "bm_sync.c"), str(HOOK / "bm_hook.c")]
    return build(tmp_path_factory.mktemp("sync") / "hook_sync", *sources)


ANSWERED, LATE, GONE, BAD = range(4)


def waited(program: Path, creates: list[tuple[int, int, int]]) -> tuple[str, list[int]]:
    """Ask creates after one another: (ns that pass, ns that the service takes, what becomes of it).

    The deadline is 10, the back-off 100 to 350, 3 failures open the breaker. Returns for each
    create ``w`` if the verdict came, ``c`` if it was asked and is cold, ``-`` if it was not asked,
    and the counters.
    """
    names = ["".join(chr(97 + int(digit)) for digit in str(n)) for n in range(len(creates))]
    lines = (
        f"{before} {takes} {result} 4 {name}"
        for (before, takes, result), name in zip(creates, names, strict=True)
    )
    command = [program, "10", "100", "350", "3"]
    out = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
    assert (out.returncode, out.stderr) == (0, "")
    *verdicts, counters = out.stdout.splitlines()
    signs = {"4 1": "w", "0 1": "c", "0 0": "-"}
    return "".join(signs[line] for line in verdicts), [int(n) for n in counters.split()]


@pytest.mark.deep
def test_an_answer_later_than_the_deadline_is_none(sync_program):
    signs, counters = waited(sync_program, [(0, 10, ANSWERED), (0, 11, ANSWERED), (0, 3, ANSWERED)])
    assert signs == "wcw"
    assert counters == [2, 1, 0, 0, 0, 0, 0, 3]


def test_the_breaker_opens_after_failures_in_a_row_and_a_probe_closes_it(sync_program):
    fails, works = [(0, 1, GONE)], [(0, 1, ANSWERED)]
    creates = fails * 2 + works + fails * 3 + works * 4
    creates += [(99, 1, ANSWERED), (1, 1, ANSWERED), (0, 1, ANSWERED)]
    signs, counters = waited(sync_program, creates)
    assert signs == "ccwccc-----ww"
    assert counters == [3, 0, 5, 0, 5, 1, 1, 13]


def test_the_back_off_doubles_up_to_its_bound_and_begins_again_after_an_answer(sync_program):
    opened = [(0, 1, BAD)] * 3
    probes = [(99, 0, LATE), (1, 0, LATE), (199, 0, GONE), (1, 0, GONE), (349, 0, BAD), (1, 0, BAD)]
    again = [(349, 0, BAD), (1, 0, ANSWERED), (0, 0, BAD), (0, 0, BAD), (0, 0, BAD)]
    last = [(99, 0, ANSWERED), (1, 0, ANSWERED)]
    signs, counters = waited(sync_program, opened + probes + again + last)
    assert signs == "ccc-c-c-c-wccc-w"
    assert counters == [2, 1, 1, 7, 5, 2, 5, 16]


def test_a_clock_that_is_set_back_does_not_keep_the_breaker_open(sync_program):
    creates = [(10**6, 1, GONE)] * 3 + [(2**64 - 10**6, 1, ANSWERED)]
    assert waited(sync_program, creates)[0] == "cccw"
