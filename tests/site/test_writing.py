"""Files that others may be reading, or writing, at the same time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from tourney_runner.atomic_write import whole_file, write_whole
from tourney_runner.errors import RunError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import TextIO


def interrupt_after(file: TextIO, text: str) -> None:
    """Write the text and end as Ctrl-C would, in the middle of the file."""
    file.write(text)
    raise KeyboardInterrupt


def test_several_writers_at_once_leave_one_whole_file_at_any_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    texts = {letter * 100_000 for letter in "abc"}
    failed = []

    def write_often(text: str) -> None:
        try:
            for _ in range(100):
                write_whole(path, text)
        except RunError as error:
            failed.append(error)

    writers = [threading.Thread(target=write_often, args=(text,)) for text in texts]
    write_whole(path, min(texts))
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert path.read_text() in texts
    assert failed == []
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_not_completed_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file(path) as file:
        interrupt_after(file, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_others_may_read_a_file_as_they_may_any_new_one(tmp_path: Path) -> None:
    write_whole(tmp_path / "written", "")
    (tmp_path / "new").touch()
    modes = {path.stat().st_mode for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_what_keeps_a_file_from_being_written_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, remedy in (
        ("nowhere/file", f"make the folder {tmp_path / 'nowhere'}"),
        ("/proc/file", "see that files can be written there"),
        ("folder", "move the folder of that name away"),
    ):
        with pytest.raises(RunError) as told:
            write_whole(tmp_path / name, "text")
        words = str(told.value)
        assert words.startswith(f"{tmp_path / name}: cannot be written")
        assert remedy in words
        assert ".new" not in words
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
