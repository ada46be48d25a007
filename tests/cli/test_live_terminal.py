"""Tests of the terminal output, read from an emulated screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from typing import TYPE_CHECKING

import pyte
import pytest
from whole_program import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from whole_program import Arena

COLUMNS, LINES = 100, 24


class Terminal:
    """A program at a terminal of its own."""

    def __init__(
        self, arena: Arena, *words: object, columns: int = COLUMNS, **variables: str
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
        env = {"TERM": "xterm-256color", **variables}
        streams = {"stdin": slave, "stdout": slave, "stderr": slave}
        self.process = arena.start(*words, env=env, start_new_session=True, **streams)
        os.close(slave)
        self._columns = columns
        self._screen = pyte.HistoryScreen(columns, LINES, history=10_000)
        self._stream = pyte.ByteStream(self._screen)
        self.written = b""

    def read(self, seconds: float = 0.1) -> bool:
        """Draw what the program writes in a while; says whether it may write more."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the program has closed its end
            return False
        self._stream.feed(data)
        self.written += data
        return bool(data)

    def until(self, seen: Callable[[list[str]], bool]) -> list[str]:
        """Read until the screen shows something; gives the screen."""
        end = time.monotonic() + PATIENCE
        while not seen(self.screen):
            assert self.read(), self.screen
            assert time.monotonic() < end, self.screen
        return self.screen

    def close(self) -> int:
        """Read to the end; gives the exit status."""
        while self.read():
            pass
        os.close(self._master)
        return self.process.wait(PATIENCE)

    @property
    def screen(self) -> list[str]:
        """The lines that are there now."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def all_lines(self) -> list[str]:
        """Those that have scrolled away, too."""
        above = [
            "".join(line[column].data for column in range(self._columns)).rstrip()
            for line in self._screen.history.top
        ]
        return above + self.screen


def _field(arena: Arena, bots: int) -> list[dict[str, object]]:
    return [arena.bot(f"bot-{number:02}", move="time.sleep(0.002)") for number in range(bots)]


def test_a_live_table_and_a_bar_are_drawn_and_a_clean_screen_stays(arena: Arena) -> None:
    config = arena.configure(_field(arena, 3), schedule={"rounds": 10})
    terminal = Terminal(arena, "run", config, "--out", "out")
    screen = terminal.until(lambda lines: any("moves/s" in line for line in lines))
    assert any("mean place" in line for line in screen)
    assert any(line.lstrip().startswith("bot-0") for line in screen)
    [bar] = [line for line in screen if "moves/s" in line]
    assert " of 60 deals " in bar
    assert terminal.close() == 0
    lines = terminal.all_lines
    assert not any("so far" in line for line in lines)  # the live part is gone
    assert sum("mean place" in line for line in lines) == 1  # and the final table is there
    assert sum(line.startswith("cup: tienlen, 60 deals") for line in lines) == 1
    assert any(line.startswith("played 60 deals in") for line in lines)
    assert b"\x1b[?25h" in terminal.written.rsplit(b"\x1b[?25l", 1)[-1]  # the cursor is back


def test_more_bots_than_lines_leave_room_for_the_bar(arena: Arena) -> None:
    config = arena.configure(_field(arena, 26), match={"duplicate": False})
    terminal = Terminal(arena, "run", config, "--out", "out")
    terminal.until(lambda lines: {"more", "moves/s"} <= set(" ".join(lines).split()))
    assert terminal.close() == 0
    assert sum("bot-" in line for line in terminal.all_lines) >= 26


def test_an_interrupted_live_run_leaves_the_standings_and_the_way_back(arena: Arena) -> None:
    config = arena.configure(_field(arena, 2), schedule={"rounds": 1000})
    terminal = Terminal(arena, "run", config, "--out", "out")
    terminal.until(lambda lines: any("moves/s" in line for line in lines))
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.close() == 130
    lines = [line for line in terminal.all_lines if line]
    assert any("the standings so far" in line for line in lines)
    assert not any("moves/s" in line and "left" in line for line in lines)
    assert "tourney run" in " ".join(lines[-3:])
    assert arena.is_clean()


@pytest.mark.parametrize("name", ["[red]bot[/red]", "汉字选手" * 8, "a" * 60])
def test_names_are_shown_as_they_are(name: str, arena: Arena) -> None:
    config = arena.configure([*_field(arena, 1), arena.bot(name, move="time.sleep(0.002)")])
    terminal = Terminal(arena, "run", config, "--out", "out")
    assert terminal.close() == 0
    assert name[:5] in "".join(terminal.all_lines).replace(" ", "")


def test_a_dumb_terminal_gets_plain_lines(arena: Arena) -> None:
    config = arena.configure(_field(arena, 2))
    terminal = Terminal(arena, "run", config, "--out", "out", TERM="dumb")
    assert terminal.close() == 0
    assert b"\x1b" not in terminal.written
    assert any(line.startswith("played 4 deals") for line in terminal.all_lines)


def test_eighty_columns_break_no_name_and_no_word(arena: Arena) -> None:
    config = arena.configure([arena.bot("stray-prints"), arena.bot("planner-2")])
    arena.run("run", config, "--out", "out")
    # The ranking has fewer columns there; names and headings are whole.
    narrow = {"stray-prints", "planner-2", "rank", "range", "P(best)", "deals", "faults"}
    plan = set(arena.run("plan", config, "--quick").stdout.split())
    for words, whole in ((["standings", "out"], narrow), (["plan", config, "--quick"], plan)):
        terminal = Terminal(arena, *words, columns=80)
        assert terminal.close() == 0
        assert whole <= set(" ".join(terminal.all_lines).split())
