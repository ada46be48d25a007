"""Results on network file systems are refused, wherever those are mounted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tourney_runner.errors import UsageError
from tourney_runner.run import results_folder
from tourney_runner.run.results_folder import network_type, refuse_network

if TYPE_CHECKING:
    from pathlib import Path

ROOT = "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw"

MOUNTS = {
    "the disk of the machine": ("", None),
    "NFS there": ("36 21 0:40 / {here} rw shared:2 - nfs4 server:/home rw,vers=4.2", "nfs4"),
    "CIFS above": ("36 21 0:40 / {above} rw - cifs //server/share rw", "cifs"),
    "sshfs, without optional fields": (
        "36 21 0:40 / {here} rw - fuse.sshfs me@host: rw",
        "fuse.sshfs",
    ),
    "NFS elsewhere": ("36 21 0:40 / {here}-not rw - nfs server:/home rw", None),
    "a disk over NFS": (
        "36 21 0:40 / {above} rw - nfs server:/home rw\n37 36 8:2 / {here} rw - xfs /dev/sdb rw",
        None,
    ),
    "NFS over a disk in the same place": (
        "36 21 8:2 / {here} rw - xfs /dev/sdb rw\n37 36 0:40 / {here} rw - nfs server:/home rw",
        "nfs",
    ),
    "a file system of a program on this machine": (
        "36 21 0:4 / {here} rw - fuse.ntfs-3g x rw",
        None,
    ),
    "a line that cannot be read": ("garbage", None),
}


@pytest.mark.parametrize(("lines", "expected"), MOUNTS.values(), ids=MOUNTS.keys())
def test_the_mount_that_a_folder_is_on_decides(
    lines: str, expected: str | None, tmp_path: Path
) -> None:
    folder = tmp_path / "with space"
    folder.mkdir()
    escaped = {"here": str(folder).replace(" ", "\\040"), "above": str(tmp_path)}
    assert network_type(folder, f"{ROOT}\n{lines.format(**escaped)}") == expected


def test_a_refusal_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"{ROOT}\n36 21 0:40 / {tmp_path} rw - nfs server:/home rw\n", "utf-8")
    monkeypatch.setattr(results_folder, "_MOUNTS", mounts)
    with pytest.raises(UsageError, match=r"network file system \(nfs\).*Keep results on a disk"):
        refuse_network(tmp_path)
