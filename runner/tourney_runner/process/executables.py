"""Read from a program's first bytes which interpreter the kernel starts it with.

Scripts name an interpreter after ``#!``, dynamically linked ELF files in a program header. Both are
parsed as Linux does (fs/binfmt_script.c and fs/binfmt_elf.c), because a parser that differs in a
single byte would check a different file from the one that runs.
"""

from __future__ import annotations

import os
import stat
import struct
from dataclasses import dataclass

__all__ = ["MOST_INTERPRETERS", "Header", "UnrunnableError", "read_header", "script_interpreter"]

MOST_INTERPRETERS = 5
"""The number of nested interpreters that Linux follows before it gives up."""

_SCRIPT_BYTES = 256
"""The bytes of a script that the kernel reads (BINPRM_BUF_SIZE, since Linux 5.1)."""
_BLANKS = b" \t"
_MOST_PROGRAM_HEADERS = 65536
_LONGEST_PATH = 4096
_PT_INTERP = 3
_ELF = {
    # class: (e_phoff, e_phentsize and e_phnum, p_offset, p_filesz) as offsets and formats
    1: ("I", 28, 42, 4, 16),
    2: ("Q", 32, 54, 8, 32),
}


class UnrunnableError(Exception):
    """The kernel would not run this file.

    The message gives the reason, to follow the file's name.
    """


@dataclass(frozen=True)
class Header:
    """The part of a program that determines its interpreter."""

    interpreter: str | None
    """The path as the kernel opens it, relative to the working directory unless absolute; None if
    the program has no interpreter."""
    is_script: bool
    """Whether the interpreter is a separate program, which may have an interpreter itself."""


def read_header(path: str) -> Header:
    """Read the interpreter of a program.

    Args:
        path: A regular file. Links are not followed.

    Raises:
        UnrunnableError: The kernel would refuse the file.
        OSError: The file cannot be read or is not a regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnrunnableError("it is not a regular file")
        start = os.pread(descriptor, _SCRIPT_BYTES, 0)
        if start.startswith(b"#!"):
            return Header(os.fsdecode(script_interpreter(start)), is_script=True)
        if start.startswith(b"\x7fELF"):
            return Header(_elf_interpreter(descriptor, start), is_script=False)
    finally:
        os.close(descriptor)
    return Header(None, is_script=False)


def script_interpreter(start: bytes) -> bytes:
    """Return the interpreter named in the first line of a script.

    Args:
        start: The beginning of the file, starting with ``#!``.

    Raises:
        UnrunnableError: The kernel would refuse the line.
    """
    buffer = start[:_SCRIPT_BYTES].ljust(_SCRIPT_BYTES, b"\0")
    nul = buffer.find(b"\0")
    end = buffer.find(b"\n", 0, _SCRIPT_BYTES if nul < 0 else nul)
    if end < 0:
        # The line may be incomplete, so a blank or NUL must end the name.
        end = _SCRIPT_BYTES - 1
        begin = _skip(buffer, 2)
        if begin > end:
            raise UnrunnableError("its first line names no interpreter after `#!`")
        if _name_end(buffer, begin) > end:
            raise UnrunnableError(
                f"its first line is longer than the {_SCRIPT_BYTES} bytes that the kernel reads"
            )
    while end > 2 and buffer[end - 1] in _BLANKS:
        end -= 1
    begin = _skip(buffer, 2)
    if begin >= end:
        raise UnrunnableError("its first line names no interpreter after `#!`")
    name = buffer[begin : min(end, _name_end(buffer, begin))]
    if not name:
        raise UnrunnableError("its first line names no interpreter after `#!`")
    return name


def _skip(buffer: bytes, place: int) -> int:
    """Return the next position that holds neither a space nor a tab."""
    while place < len(buffer) and buffer[place] in _BLANKS:
        place += 1
    return place


def _name_end(buffer: bytes, place: int) -> int:
    """Return the next position that holds a space, a tab or NUL."""
    while place < len(buffer) and buffer[place] not in b" \t\0":
        place += 1
    return place


def _elf_interpreter(descriptor: int, start: bytes) -> str | None:
    """Return the loader of an ELF file, or None for a static program."""
    layout = _ELF.get(start[4] if len(start) > 5 else 0)
    if layout is None:
        return None  # not for the kernel's ELF loader; another format handler may accept it
    word, table_at, counts_at, offset_at, size_at = layout
    order = "<" if start[5] == 1 else ">"
    try:
        (table,) = struct.unpack_from(order + word, start, table_at)
        entry, count = struct.unpack_from(order + "HH", start, counts_at)
        if not 0 < entry * count <= _MOST_PROGRAM_HEADERS or table >= 1 << 62:
            return None
        headers = os.pread(descriptor, entry * count, table)
        for number in range(count):
            at = number * entry
            if struct.unpack_from(order + "I", headers, at)[0] != _PT_INTERP:
                continue
            (offset,) = struct.unpack_from(order + word, headers, at + offset_at)
            (size,) = struct.unpack_from(order + word, headers, at + size_at)
            if not 2 <= size <= _LONGEST_PATH or offset >= 1 << 62:
                raise UnrunnableError("its ELF header names no proper loader")
            name = os.pread(descriptor, size, offset)
            if len(name) != size or name[-1:] != b"\0":
                raise UnrunnableError("its ELF header names no proper loader")
            return os.fsdecode(name.split(b"\0")[0])
    except struct.error:
        raise UnrunnableError("its ELF header is cut off") from None
    return None
