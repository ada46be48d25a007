"""A small assembler for the classic BPF programs that filter system calls.

It supports only what a filter needs: load a word of ``struct seccomp_data``, mask it, compare it,
return a verdict. Jumps go forward to labels, as the kernel requires.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

__all__ = ["ARCH_OFFSET", "NUMBER_OFFSET", "Assembler", "argument_offset"]

NUMBER_OFFSET = 0
"""The offset of the system call number in ``struct seccomp_data``."""
ARCH_OFFSET = 4

_LOAD_WORD = 0x20
_AND = 0x54
_JUMP_IF_EQUAL = 0x15
_JUMP_IF_AT_LEAST = 0x35
_RETURN = 0x06

_LONGEST_JUMP = 255


def argument_offset(index: int) -> int:
    """Return the offset of an argument's low half in ``struct seccomp_data`` (little-endian)."""
    return 16 + 8 * index


@dataclass
class _Instruction:
    code: int
    value: int
    yes: str = ""
    no: str = ""


@dataclass
class Assembler:
    """A list of instructions under construction. An empty label means the next instruction."""

    _instructions: list[_Instruction] = field(default_factory=list)
    _labels: dict[str, int] = field(default_factory=dict)

    def load(self, offset: int) -> None:
        """Load the 32-bit word at an offset of ``struct seccomp_data``."""
        self._instructions.append(_Instruction(_LOAD_WORD, offset))

    def mask(self, bits: int) -> None:
        """Keep only some bits of the loaded word."""
        self._instructions.append(_Instruction(_AND, bits))

    def if_equal(self, value: int, yes: str = "", no: str = "") -> None:
        """Go to `yes` if the word has this value, else to `no`."""
        self._instructions.append(_Instruction(_JUMP_IF_EQUAL, value, yes, no))

    def if_at_least(self, value: int, yes: str = "", no: str = "") -> None:
        """Go to `yes` if the word, unsigned, is this value or more, else to `no`."""
        self._instructions.append(_Instruction(_JUMP_IF_AT_LEAST, value, yes, no))

    def give(self, verdict: int) -> None:
        """Return a verdict, a ``SECCOMP_RET_*`` value."""
        self._instructions.append(_Instruction(_RETURN, verdict))

    def label(self, name: str) -> None:
        """Name the instruction that comes next."""
        self._labels[name] = len(self._instructions)

    def assemble(self) -> bytes:
        """Return the program as an array of ``struct sock_filter``.

        Raises:
            ValueError: A jump is too long for one byte, goes backwards or has no target.
        """
        return b"".join(
            struct.pack(
                "<HBBI",
                instruction.code,
                self._distance(place, instruction.yes),
                self._distance(place, instruction.no),
                instruction.value,
            )
            for place, instruction in enumerate(self._instructions)
        )

    def _distance(self, place: int, label: str) -> int:
        if not label:
            return 0
        distance = self._labels.get(label, -1) - place - 1
        if not 0 <= distance <= _LONGEST_JUMP:
            raise ValueError(f"cannot jump from instruction {place} to {label!r}")
        return distance
