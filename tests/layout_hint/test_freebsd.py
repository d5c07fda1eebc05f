"""The FreeBSD module and the patches: what they compile to, reach, and compute.

What needs FreeBSD's own sources is in ``ffs/patched.py``, which `make freebsd-sources` runs.
"""

from __future__ import annotations

import random
import re
import struct
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from birthmark.layout_hint import INCLUDE
from tests import needs
from tests.layout_hint.freebsd import (
    FREEBSD,
    HOOK,
    PATCHES,
    RELEASES,
    changed,
    include,
    kernel,
    originals,
    run,
    series,
)
from tests.layout_hint.test_lookup import STRICT, zig

__all__ = ["kernel"]  # a fixture

SOURCES = [*sorted(FREEBSD.glob("*.c")), HOOK / "bm_hook.c"]
DRIVER = Path(__file__).with_name("region.c")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wframe-larger-than=2048"] + [
    f"-Wno-{name}" for name in ("unused-parameter", "sign-compare", "missing-field-initializers")
]


@pytest.fixture(scope="module")
def module(kernel: list[str], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the module, compiled without a warning and linked."""
    folder = tmp_path_factory.mktemp("module")
    objects = [str(folder / f"{source.stem}.o") for source in SOURCES]
    for source, out in zip(SOURCES, objects, strict=True):
        run(*kernel, *include(), *WARNINGS, "-c", str(source), "-o", out)
    out = folder / "birthmark.ko"
    run(zig()[0], "ld.lld", "-r", "-d", "-o", str(out), *objects)
    return out.read_bytes()


@pytest.fixture(scope="module")
def assembly(kernel: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what the compiler makes of the module, without inlining."""
    out = tmp_path_factory.mktemp("assembly") / "out.s"
    texts = []
    for source in SOURCES:
        run(*kernel, *include(), "-fno-inline", "-g0", "-S", str(source), "-o", str(out))
        texts.append(out.read_text())
    return "\n".join(texts)


def undefined(elf: bytes) -> set[str]:
    """Return the names that an ELF object of 64 bits leaves to others; weak ones not."""
    at, entry, count = struct.unpack_from("<Q10xHH", elf, 40)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, at + entry * i) for i in range(count)]
    names = set()
    for _, kind, _, _, offset, size, link, _, _, each in sections:
        if kind != 2:  # the table of symbols
            continue
        for symbol in range(offset + each, offset + size, each):
            name, info, _, section = struct.unpack_from("<IBBH", elf, symbol)
            if section == 0 and info >> 4 == 1:
                start = sections[link][4] + name
                names.add(elf[start : elf.index(b"\0", start)].decode())
    return names


def kpi() -> dict[str, set[str]]:
    """Return the checked-in list, by its headings."""
    lists: dict[str, set[str]] = {"create": set(), "elsewhere": set()}
    heading = ""
    for line in (FREEBSD / "kpi.txt").read_text().splitlines():
        if line in lists:
            heading = line
        elif line and not line.startswith("#"):
            lists[heading].add(line)
    return lists


def test_the_module_uses_no_more_of_the_kernel_than_the_list_says(module: bytes) -> None:
    by_compiler = {"memcpy", "memset"}  # which of them depends on its version
    assert undefined(module) | by_compiler == set().union(*kpi().values())


def test_the_module_has_no_instruction_that_needs_the_floating_point_unit(assembly: str) -> None:
    assert "birthmark_ask:" in assembly
    assert re.findall(r"%(?:[xyz]mm|st\b|mm)\d*", assembly) == []


def calls(assembly: str) -> dict[str, set[str]]:
    """Return what each function calls or takes the address of; "*" stands for a pointer."""
    functions = set(re.findall(r"\.type\s+(\w+),@function", assembly))
    found: dict[str, set[str]] = {}
    inside: set[str] = set()
    for line in assembly.splitlines():
        if label := re.match(r"(\w+):", line):
            inside = found.setdefault(label[1], set()) if label[1] in functions else set()
        elif call := re.match(r"\s+(?:call|jmp)q?\s+(\S+)", line):
            inside.add("*" if call[1].startswith("*") else call[1].split("@")[0])
        elif re.match(r"\s+[a-z]", line):
            inside.update(re.findall(r"[\s,$]([A-Za-z_]\w*)(?=\(%rip\)|,|$)", line.split("#")[0]))
    return found


def reached(found: dict[str, set[str]], start: str) -> Iterator[str]:
    seen, left = {start}, [start]
    while left:
        for name in found.get(left.pop(), set()) - seen:
            seen.add(name)
            left.append(name)
            yield name


@pytest.mark.parametrize("start", ["birthmark_ask", "birthmark_outcome"])
def test_a_create_reaches_nothing_that_could_sleep(
    module: bytes, assembly: str, start: str
) -> None:
    found = calls(assembly)
    assert start in found
    outside = set(reached(found, start)) & (undefined(module) | {"*"})
    assert outside <= kpi()["create"]
    if start == "birthmark_ask":
        assert {"_rm_rlock_debug", "_rm_runlock_debug"} <= outside
        assert "malloc" in set(reached(found, "birthmark_ioctl"))  # the search does find it


def test_outcomes_are_numbered_as_the_hook_counts_them() -> None:
    hint = (FREEBSD / "ffs_hint.h").read_text()
    books = (INCLUDE / "birthmark_hint.h").read_text()
    ours = dict(re.findall(r"FFS_HINT_(\w+) = (\d)", hint))
    assert ours
    for name, number in ours.items():
        assert re.search(rf"\bBM_{name} = {number},", books), name


def test_modes_of_a_region_are_numbered_as_the_hook_numbers_them() -> None:
    hint = (FREEBSD / "ffs_hint.h").read_text()
    books = (INCLUDE / "birthmark_hint.h").read_text()
    modes = re.search(r"enum ffs_region_mode \{.*?\}", hint, re.S)
    assert modes
    ours = re.findall(r"FFS_(REGION_\w+) = (\d)", modes[0])
    assert ours == re.findall(r"#define\tBM_(REGION_\w+)\t+(\d)U", books)
    assert [name for name, _ in ours] == [
        f"REGION_{mode.upper()}" for mode in ("none", "preferred", "data", "reserved")
    ]


def test_settings_are_taken_whole_or_not_at_all(kernel: list[str], tmp_path: Path) -> None:
    sources = [FREEBSD / "birthmark_region.c", HOOK / "bm_hook.c", DRIVER.with_name("module.c")]
    objects = [str(tmp_path / f"{source.stem}.o") for source in sources]
    for source, out in zip(sources, objects, strict=True):
        run(*kernel, *include(), "-w", "-c", str(source), "-o", out)
    # what is never called there is left undefined
    link = ["-no-pie", "-static", "-Wl,--unresolved-symbols=ignore-all"]
    program = str(tmp_path / "module")
    run("cc", *link, *objects, "-o", program)
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


# The arithmetic of regions, which the patched kernel and the module share.


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs.program("cc", "gcc")
    out = tmp_path_factory.mktemp("region") / "region"
    more = ["-std=c99", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    run("cc", *STRICT, *more, f"-I{FREEBSD}", str(DRIVER), "-o", str(out))
    return out


def answers(region: Path, questions: Iterable[str]) -> list[list[int]]:
    lines = run(str(region), input="\n".join(questions)).splitlines()
    return [[int(number) for number in line.split()] for line in lines]


MB = 1 << 20
# the 40 GB of the thesis, with UFS1; layout_hint/sim/src/ffs/region.rs has the same numbers
THESIS = "r 21052416 2048 91136 231 22400 128 8 24 1424 2 0"
GROUP = 178 * MB
# the same 40 GB as newfs of FreeBSD 15 makes them, with UFS2
TODAY = "r 10485760 4096 160056 66 80128 256 24 40 5048 1 1"
GROUP_TODAY = 160056 * 4096
REGIONS = [
    (THESIS, 0, 4 * MB, 0, [0, 0, 3, 22400, 1426, 2048]),
    (THESIS, GROUP, MB, 0, [0, 1, 0, (512 - 24) * 16, 0, 8]),
    (THESIS, 4 * MB, MB, 22400, [0, 0, 3, 22400, 2048, 2560]),  # its first inodes, its data
    (THESIS, GROUP + 4 * MB, MB, 100, [0, 1, 0, 100, 2048, 2560]),
    (THESIS, 4 * MB, MB, 22401, [3]),  # no group has so many
    (THESIS, 4 * MB, MB, 0, [4]),  # no inode: nothing would be hot
    (THESIS, 4 * MB, MB, 3, [4]),  # the root's and those before it are no file's
    (THESIS, GROUP + MB + 1, 4096, 0, [6]),  # nothing but inodes
    (THESIS, 0, 4096, 0, [4]),
    (THESIS, 231 * GROUP - 1, 2, 0, [1]),
    (THESIS, (1 << 64) - 1, (1 << 64) - 1, 0, [1]),
    (THESIS, GROUP - MB, 2 * MB, 0, [2]),
    (TODAY, 0, 4 * MB, 0, [6]),  # all inodes
    (TODAY, 5049 * 4096, 4 * MB, 16384, [0, 0, 3, 16384, 5049, 6073]),
    (TODAY, GROUP_TODAY + 5048 * 4096, MB, 4096, [0, 1, 0, 4096, 5048, 5304]),
    (TODAY, 5048 * 4096 - MB, 4 * MB, 0, [5]),  # the last inodes: others are made before
    (TODAY, 0, 24 * MB, 0, [0, 0, 3, 80128, 5049, 6144]),
]


@pytest.mark.parametrize(("sizes", "start", "length", "inodes", "expected"), REGIONS)
def test_a_region_has_first_inodes_and_fragments_or_is_refused(
    region: Path, sizes: str, start: int, length: int, inodes: int, expected: list[int]
) -> None:
    assert answers(region, [f"{sizes} {start} {length} {inodes}"]) == [expected]


def bits(data: bytes) -> list[bool]:
    return [bool(byte >> i & 1) for byte in data for i in range(8)]


def question(kind: str, data: bytes, *numbers: int) -> str:
    return " ".join(map(str, [kind, *numbers, len(data), *data]))


def maps(count: int, size: int) -> Iterator[tuple[random.Random, bytes]]:
    """Yield maps with few, some and many bits, from one seed."""
    rng = random.Random(7)
    for i in range(count):
        density = (0.03, 0.5, 0.97)[i % 3]
        draw = (sum((rng.random() < density) << b for b in range(8)) for _ in range(size))
        yield rng, bytes(draw)


def test_others_get_the_first_inode_from_the_rotor_on_that_is_not_kept(region: Path) -> None:
    asked, expected = [], []
    for rng, data in maps(600, 12):
        rotor, low = rng.randrange(96), rng.randrange(96)
        high = rng.randint(low, 96)
        asked.append(question("i", data, 96, rotor, low, high))
        free = [at for at, spent in enumerate(bits(data)) if not spent and not low <= at < high]
        later = [at for at in free if at >= rotor // 8 * 8]
        expected.append([(later or free or [-1])[0]])
    assert answers(region, asked) == expected
    assert [-1] in expected


def test_a_hot_file_gets_the_first_free_inode_of_the_region(region: Path) -> None:
    asked, expected = [], []
    for rng, data in maps(600, 12):
        low = rng.randrange(96)
        high = rng.randint(low, 96)
        asked.append(question("c", data, low, high))
        expected.append([next((at for at in range(low, high) if not bits(data)[at]), high)])
    assert answers(region, asked) == expected


def runs(data: bytes, low: int, high: int, frag: int = 8) -> list[tuple[int, int]]:
    """Return where runs of free fragments begin within a range, and their lengths, by blocks."""
    free, found = bits(data), []
    for block in range(low // frag, -(-high // frag)):
        at = max(low, block * frag)
        end = min(high, block * frag + frag)
        while at < end:
            length = next((i for i in range(end - at) if not free[at + i]), end - at)
            if length:
                found.append((at, length))
            at += length + 1
    return found


@pytest.mark.parametrize("frag", [1, 2, 4, 8])
def test_a_hot_block_gets_the_shortest_run_of_the_region_that_has_room(
    region: Path, frag: int
) -> None:
    asked, expected = [], []
    for rng, data in maps(900, 12):
        low, want = rng.randrange(96), rng.randint(1, frag)
        high = rng.randint(low, 96)
        asked.append(question("f", data, low, high, frag, want))
        fit = [(length, at) for at, length in runs(data, low, high, frag) if length >= want]
        expected.append([min(fit)[1] if fit else -1])
    assert answers(region, asked) == expected
    assert [-1] in expected


def test_others_get_the_first_such_run_that_is_not_in_a_kept_block(region: Path) -> None:
    asked, expected = [], []
    for rng, data in maps(900, 24):
        start, low, length = rng.randrange(24), rng.randrange(24), rng.randint(1, 8)
        high = rng.randint(low, 24)
        asked.append(question("s", data, start, low, high, length))
        having = {at // 8 for at, run in runs(data, 0, 192) if run == length}
        free = sorted(block for block in having if not low <= block < high)
        later = [block for block in free if block >= start]
        expected.append([(later or free or [-1])[0]])
    assert answers(region, asked) == expected
    assert [-1] in expected


# The patches.


@pytest.mark.parametrize("release", RELEASES)
def test_the_patches_are_well_formed_and_change_the_files_that_are_named(release: str) -> None:
    git = needs.program("git")
    assert len(series(release)) == 3
    named = {path for patch in series(release) for path in changed(patch)}
    assert named == {*originals(release), "sys/ufs/ffs/ffs_hint.h", "sys/ufs/ufs/ufs_vnops.c"}
    for patch in series(release):
        counts = run(git, "apply", "--numstat", str(patch)).splitlines()
        assert [line.split()[2] for line in counts] == changed(patch)


def test_git_am_finds_an_author_and_a_subject_in_each_patch() -> None:
    git = needs.program("git")
    for patch in PATCHES.glob("*.patch"):
        found = run(git, "mailinfo", "/dev/null", "/dev/null", input=patch.read_text())
        assert re.search(r"^Author: \S+", found, re.M), patch
        assert re.search(r"^Email: \S+@\S+", found, re.M), patch
        assert re.search(r"^Subject: u?ffs: |^Subject: ufs: ", found, re.M), patch


def added(patch: Path, after: str) -> list[str]:
    """Return the lines that a patch adds, from one on."""
    lines = [line[1:] for line in patch.read_text().splitlines() if re.match(r"\+(?!\+\+ )", line)]
    return lines[lines.index(after) :]


def test_the_functions_that_the_allocator_calls_are_the_same_in_all_releases() -> None:
    first = " * Hints: new files that are expected to be hot, and the region that they are"
    ours = [
        added(patch, first)
        for release in RELEASES
        for patch in series(release)
        if f"-{release}-" in patch.name
    ]
    assert len(ours) == len(RELEASES)
    assert len(ours[0]) > 300
    assert all(each == ours[0] for each in ours)


def test_the_header_that_the_patches_add_is_that_of_the_module() -> None:
    header = "sys/ufs/ffs/ffs_hint.h"
    (patch,) = (each for each in PATCHES.glob("*.patch") if header in changed(each))
    part = patch.read_text().split(f"+++ b/{header}\n")[1].split("diff --git")[0]
    assert [line[1:] for line in part.splitlines()[1:]] == (
        (FREEBSD / "ffs_hint.h").read_text().splitlines()
    )
