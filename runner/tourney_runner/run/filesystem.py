"""File systems on which a results file is not safe.

SQLite needs locks that hold between processes and, for its journal, memory that is shared between
them. Over a network neither can be relied on, and a file that two runs write at once is lost.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from tourney_runner.errors import UsageError

__all__ = ["network_type", "refuse_network"]

_MOUNTS = Path("/proc/self/mountinfo")

_NETWORK = frozenset((
    "acfs", "afs", "afpfs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.beegfs",
    "fuse.ceph", "fuse.davfs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.goofys", "fuse.juicefs",
    "fuse.lustre", "fuse.mount-s3", "fuse.moosefs", "fuse.ossfs", "fuse.rclone", "fuse.s3fs",
    "fuse.seaweedfs", "fuse.smbnetfs", "fuse.sshfs", "glusterfs", "gpfs", "lustre", "ncpfs",
    "nfs", "nfs3", "nfs4", "ocfs2", "orangefs", "pvfs2", "smb2", "smb3", "smbfs",
))  # fmt: skip


def refuse_network(folder: Path) -> None:
    """Make sure that results in a folder are on a disk of this machine.

    Raises:
        UsageError: They would not be.
    """
    with suppress(OSError):  # elsewhere than on Linux nobody tells
        kind = network_type(folder, _MOUNTS.read_text(encoding="utf-8", errors="replace"))
        if kind is not None:
            raise UsageError(
                f"{folder}: this is a network file system ({kind}), where the locks of a results"
                " file do not hold and it would be damaged sooner or later. Give --out a folder on"
                " a disk of this machine, and copy it when the run is over (rsync, or tourney"
                " publish for the pages)."
            )


def network_type(folder: Path, mounts: str) -> str | None:
    """The kind of network file system that a folder is on; None for any other.

    Args:
        folder: An existing folder.
        mounts: As in ``/proc/self/mountinfo``; of two mounts in one place the later is seen.
    """
    path = folder.resolve()
    kind, depth = "", -1
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if len(fields) < 5:
            continue
        mounted = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4]))
        if path.is_relative_to(mounted) and len(mounted.parts) >= depth:
            kind, depth = kinds[0], len(mounted.parts)
    return kind if kind in _NETWORK else None
