from __future__ import annotations

import json
import os
import re
import subprocess
from shutil import which
from typing import TYPE_CHECKING

import pexpect
import pytest
from authors_program import BOTS, ROOT

if TYPE_CHECKING:
    from authors_program import Program

PAGE = (ROOT / "docs/debugging.md").read_text(encoding="utf-8")


def _may_attach() -> bool:
    """Return whether gdb may attach to a process that is not its child."""
    if which("gdb") is None or which("gcc") is None:
        return False
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        tried = subprocess.run(
            ["gdb", "-q", "-nx", "-batch", "-p", str(sleeper.pid)],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        sleeper.kill()
        sleeper.wait()
    return "Operation not permitted" not in tried.stderr


def test_gdb_stops_a_bot_in_its_own_code(workshop: Program) -> None:
    if not _may_attach():
        pytest.skip("gdb cannot attach to processes here")
    terminal = workshop.at_a_terminal("check", BOTS / "c", "--debug", "--game", "tienlen")
    terminal.expect(r"the bot runs as process (\d+) in ")
    assert terminal.match is not None
    process = terminal.match[1]
    terminal.expect("press Enter here")
    gdb = pexpect.spawn(
        "gdb",
        ["-q", "-nx", "-p", process],
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "TERM": "dumb"},  # type: ignore[arg-type]
    )
    gdb.expect(r"\(gdb\) ")
    gdb.sendline("break choose")
    gdb.expect("Breakpoint 1 at .*\\(gdb\\) ")
    gdb.sendline("continue")
    gdb.expect("Continuing")
    terminal.sendline()
    gdb.expect(r"Breakpoint 1, .*choose .*\(gdb\)")
    gdb.sendline("delete 1")
    gdb.sendline("detach")
    gdb.expect("detached")
    gdb.sendline("quit")
    gdb.expect(pexpect.EOF)
    terminal.expect("ok       tienlen: 4 players, without limits: 1 deal, ")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0


CLOCK_READER = """\
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "legal": "canonical"}', flush=True)
    elif message["type"] == "move":
        print("my limit is", message["time"]["move"], "ms", file=sys.stderr, flush=True)
        print(json.dumps({"id": message["id"], **message["legal"][0]}), flush=True)
"""


def test_a_fault_is_reported_while_debugging(workshop: Program) -> None:
    bot = BOTS / "faulty/crash_move"
    done = workshop("check", bot, "--debug", "--game", "tienlen", "--deals", 2)
    assert done.returncode == 2
    assert "FAILED   tienlen: 4 players, without limits: crash: " in done.stdout
    assert "this bot always fails at its first move" in done.stdout


def test_a_bot_has_no_limit_while_debugging(tourney: Program) -> None:
    tourney.write("mine/bot.py", CLOCK_READER)
    tourney.write("mine/bot.yaml", 'name: mine\ncommand: ["{python}", -E, -S, bot.py]\n')
    done = tourney("check", "mine", "--debug", "--game", "tienlen", "-v")
    assert done.returncode == 0, done.stdout
    moves = re.findall(r"my limit is (\d+) ms", done.stdout)
    assert moves
    assert all(int(move) > 24 * 3600 * 1000 for move in moves)


def test_programs_get_no_debugging(workshop: Program) -> None:
    done = workshop("check", BOTS / "greedy", "--debug", "--json")
    assert done.returncode == 2
    assert "--debug is for people, --json for programs" in done.stderr


def test_the_launch_file_attaches_to_each_kind_of_bot() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    launch = json.loads(text)
    assert launch["version"] == "0.2.0"
    kinds = {one["type"]: one for one in launch["configurations"]}
    assert set(kinds) == {"debugpy", "node", "cppdbg"}
    assert all(one["request"] == "attach" and one["name"] for one in kinds.values())
