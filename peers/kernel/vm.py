"""The VM of a Debian kernel in virtual time: its RAM disk, and a run of it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/kernel"
#: Time limit of one VM, s.
PATIENCE = 3600

#: The VM's clock counts instructions, two nanoseconds each, and jumps over idle time (sleep=off).
#: Recording keeps QEMU's other thread from moving the clock while the processor runs; its log is of no use.
QEMU = """
qemu-system-x86_64 -accel tcg -icount shift=1,sleep=off,rr=record,rrfile=/dev/null
-rtc base=2026-01-01T00:00:00,clock=vm -cpu max,-rdrand,-rdseed -smp 1 -m 512
-nodefaults -no-reboot -display none -monitor none -nic none
"""
#: No entropy but the word of the replicate; no packets of IPv6's own.
APPEND = "console=ttyS0 panic=-1 quiet nokaslr random.trust_cpu=off ipv6.disable=1"


class Failed(Exception):
    """A VM without a valid record; the reason in one line."""


@dataclass(frozen=True)
class Vm:
    """A RAM disk, in a folder of its own: its first process, its program, the modules that both need."""

    folder: Path
    init: Path
    program: Path
    modules: Sequence[str]

    @property
    def image(self) -> Path:
        """The RAM disk."""
        return self.folder / "image.cpio.gz"

    def records(self, name: str) -> Path:
        """The file that a run writes."""
        return self.folder / f"{name}.records.gz"

    def build(self, files: Sequence[Path]) -> None:
        """Writes the RAM disk, with these files and folders at its root."""
        script = ROOT / "peers/kernel/image.sh"
        modules = " ".join(self.modules)
        subprocess.run([script, self.init, self.program, modules, self.image, *files], check=True)

    def boot(self, name: str, seed: int) -> None:
        """Runs it under a seed; raises `Failed`."""
        (kernel,) = (BUILD / "unpacked/boot").glob("vmlinuz-*")
        console = self.folder / f"{name}.console"
        command: list[str] = [
            *QEMU.split(),
            "-serial",
            f"file:{console}",
            "-serial",
            f"file:{self.records(name)}",
        ]
        command += ["-kernel", str(kernel), "-initrd", str(self.image)]
        command += ["-append", f"{APPEND} sjseed={seed}"]
        try:
            subprocess.run(
                command, check=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, capture_output=True
            )
        except subprocess.CalledProcessError as error:
            raise Failed(f"QEMU: {error.stderr.decode(errors='replace').strip()}") from None
        except subprocess.TimeoutExpired:
            raise Failed(f"QEMU: no end in {PATIENCE} s; its console is {console}") from None
