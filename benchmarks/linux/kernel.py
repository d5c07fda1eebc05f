"""A kernel of Debian's, and the initial file system that it starts a script in."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BUSYBOX, CPIO = "busybox", "cpio"
MODULES = ("virtio_pci", "virtio_blk", "crc32_generic", "f2fs")
"""Modules that the machine loads: its disks, and F2FS with its checksums."""

BEGIN, END = "birthmark: begins", "birthmark: ends"
"""Markers on the console around a script's output; then comes its status."""

_APPLETS = ("sh", "mount", "umount", "insmod", "cat", "poweroff")
_INIT = """#!/bin/sh
mount -t devtmpfs none /dev
mount -t proc none /proc
mount -t sysfs none /sys
mount -t debugfs none /sys/kernel/debug
{modules}
echo {begin}
{script}
echo "{end} $?"
poweroff -f
"""


class MachineError(RuntimeError):
    """The machine cannot be made, or did not come to the end of its script."""


@dataclass(frozen=True)
class Kernel:
    """A kernel of Debian's, and the folder with its modules."""

    image: Path
    modules: Path

    def needed(self, names: Sequence[str]) -> list[Path]:
        """Return the files of the modules ``names``, each behind those that it needs.

        What is built into the kernel has none. Raises ``MachineError`` for what it does not have.
        """
        lines = (self.modules / "modules.dep").read_text().splitlines()
        needs = {where: behind.split() for where, behind in (line.split(":") for line in lines)}
        places = {Path(where).stem: where for where in needs}
        built_in = {Path(each).stem for each in self._built_in()}
        found: dict[str, None] = {}
        for name in names:
            if name in built_in:
                continue
            if name not in places:
                raise MachineError(f"{self.modules}: expected the module {name}")
            found |= dict.fromkeys([*reversed(needs[places[name]]), places[name]])
        return [self.modules / each for each in found]

    def _built_in(self) -> list[str]:
        return (self.modules / "modules.builtin").read_text().splitlines()


def find_kernel() -> Kernel:
    """Return the newest kernel of Debian's that is installed.

    Raises ``MachineError`` where there is none.
    """
    images = sorted(Path("/boot").glob("vmlinuz-*-amd64"), key=lambda each: each.stat().st_mtime)
    for image in reversed(images):
        modules = Path("/lib/modules") / image.name.removeprefix("vmlinuz-")
        if (modules / "modules.dep").exists():
            return Kernel(image, modules)
    raise MachineError("/boot: expected a kernel of the package linux-image-amd64")


def make_initial(
    out: Path, script: str, programs: Sequence[Path], kernel: Kernel, more: Sequence[str] = ()
) -> None:
    """Write the initial file system of a machine that runs ``script`` in busybox's shell.

    ``programs`` are static, and lie in ``/bin``; ``more`` modules are loaded than ``MODULES``.
    """
    root = out.with_suffix(".root")
    for folder in ("bin", "dev", "lib", "mnt", "proc", "sys", "tmp"):
        (root / folder).mkdir(parents=True)
    shutil.copy(str(shutil.which(BUSYBOX)), root / "bin/busybox")
    for applet in _APPLETS:
        (root / "bin" / applet).symlink_to("busybox")
    modules = kernel.needed([*MODULES, *more])
    for files, folder in ((programs, "bin"), (modules, "lib")):
        for file in files:
            shutil.copy(file, root / folder)
    load = "\n".join(f"insmod /lib/{module.name}" for module in modules)
    init = root / "init"
    init.write_text(_INIT.format(modules=load, begin=BEGIN, script=script, end=END))
    init.chmod(0o755)
    _pack(root, out)
    shutil.rmtree(root)


def _pack(root: Path, out: Path) -> None:
    """Write all files below a folder as the archive that a kernel unpacks."""
    names = "\n".join(str(each.relative_to(root)) for each in sorted(root.rglob("*")))
    command = [CPIO, "--quiet", "-o", "-H", "newc"]
    with out.open("wb") as file:
        subprocess.run(command, cwd=root, input=names.encode(), stdout=file, check=True)
