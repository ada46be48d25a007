"""Starting a bot and ending it, with nothing of the runner in it and nothing of it left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import pytest
from tourney_runner.process.channel import Caps, Channel
from tourney_runner.process.child import Exit
from tourney_runner.process.launcher import PlainLauncher, Program, ResourceLimits
from tourney_runner.process.process_tree import MARK
from tourney_runner.process.procfs import state_and_session

if TYPE_CHECKING:
    from collections.abc import Mapping

CAPS = Caps(output=1 << 20, deal_output=1 << 20, stderr=1000, memory=None)

PYTHON = (sys.executable, "-S", "-E", "-c")


def first_line(
    code: str,
    folder: Path,
    *,
    env: Mapping[str, str] | None = None,
    limits: ResourceLimits | None = None,
) -> Any:
    """The JSON of the first line that a bot of these lines of Python writes."""
    command = (*PYTHON, f"import json, os, sys\n{textwrap.dedent(code)}")
    program = Program(command, str(folder), tuple((env or {}).items()))
    child = PlainLauncher().start(program, limits or ResourceLimits())
    channel = Channel(child, CAPS)
    try:
        return json.loads(channel.exchange(b"\n", monotonic_ns(), 20_000_000_000))
    finally:
        child.kill()


def test_the_environment_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET_TOKEN", "PYTHONPATH", "PYTHONUNBUFFERED", "LD_PRELOAD_X", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "of the runner")
    seen = first_line(
        "print(json.dumps(dict(os.environ)), flush=True)", tmp_path, env={"MINE": "1"}
    )
    assert seen.pop("MINE") == "1"
    assert seen.pop("PYTHONHASHSEED") == "0"
    assert seen.pop("HOME") == seen.pop("TMPDIR")
    assert seen.pop("LANG") == "C.UTF-8"
    assert set(seen) <= {"PATH", "PYTHONDONTWRITEBYTECODE", "LC_CTYPE", MARK}
    assert "of the runner" not in seen.values()


def test_variables_of_the_bot_come_on_top_but_not_over_the_mark(tmp_path: Path) -> None:
    env = {"PYTHONHASHSEED": "7", MARK: "forged"}
    seen = first_line("print(json.dumps(dict(os.environ)), flush=True)", tmp_path, env=env)
    assert seen["PYTHONHASHSEED"] == "7"
    assert seen[MARK] != "forged"


def test_home_is_a_private_folder_that_goes_with_the_bot(tmp_path: Path) -> None:
    home = Path(
        first_line(
            """
            home = os.environ["HOME"]
            os.makedirs(home + "/deep/er")
            open(home + "/deep/er/file", "w").close()
            os.chmod(home + "/deep", 0)
            print(json.dumps(home), flush=True)
            """,
            tmp_path,
        )
    )
    assert home != Path.home()
    assert not home.exists()


def test_a_bot_runs_in_its_folder_in_a_session_of_its_own(tmp_path: Path) -> None:
    seen = first_line(
        "print(json.dumps([os.getcwd(), os.getsid(0), os.getpid(), os.getpgid(0)]), flush=True)",
        tmp_path,
    )
    assert Path(seen[0]) == tmp_path
    assert seen[1] == seen[2] == seen[3] != os.getsid(0)


def test_no_descriptor_of_the_runner_is_open_in_a_bot(tmp_path: Path) -> None:
    with Path("/dev/null").open() as mine:
        os.set_inheritable(mine.fileno(), True)  # noqa: FBT003 - the name says what it is
        seen = first_line('print(json.dumps(os.listdir("/proc/self/fd")), flush=True)', tmp_path)
    assert {int(name) for name in seen} <= {0, 1, 2, 3}, "3 is the listing itself"


@pytest.mark.skipif(not Path("/usr/bin/prlimit").exists(), reason="needs prlimit")
def test_limits_are_set(tmp_path: Path) -> None:
    limits = ResourceLimits(memory=100 << 20, file_size=1 << 20, open_files=64)
    seen = first_line(
        """
        import resource
        names = ["RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CORE"]
        print(json.dumps([resource.getrlimit(getattr(resource, n))[1] for n in names]), flush=True)
        """,
        tmp_path,
        limits=limits,
    )
    assert seen == [100 << 20, 1 << 20, 64, 1]  # 0 is not enough where a program collects dumps


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        ("", "exited with status 0"),
        ("raise SystemExit(7)", "exited with status 7"),
        ("import os; os.abort()", "was ended by SIGABRT (signal 6)"),
        ("import time; time.sleep(60)", "was ended by SIGKILL (signal 9)"),
        ("import os; os.kill(os.getpid(), 19)", "was ended by SIGKILL (signal 9)"),
        (
            "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)",
            "was ended by SIGKILL (signal 9)",
        ),
    ],
)
def test_the_ending_is_told_in_words(tmp_path: Path, code: str, ending: str) -> None:
    child = PlainLauncher().start(Program((*PYTHON, code), str(tmp_path)), ResourceLimits())
    if "SIGKILL" not in ending:
        assert child.wait(20)
    assert str(child.kill()) == ending
    assert str(child.kill()) == ending, "killing again changes nothing"


def test_a_signal_without_a_name_is_told_too() -> None:
    assert str(Exit(-40, 0)) == "was ended by a signal (signal 40)"


def test_the_peak_of_memory_is_the_bot_s_own(tmp_path: Path) -> None:
    # Linux counts what the starting program had into the new one; 150 MB of it are here.
    ballast = bytearray(150_000_000)
    program = Program((*PYTHON, "pass"), str(tmp_path))
    child = PlainLauncher().start(program, ResourceLimits())
    assert child.wait(20)
    assert child.kill().peak_memory < len(ballast)


def test_a_command_that_cannot_be_started_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    launcher = PlainLauncher()
    with pytest.raises(OSError, match="no/such"):
        launcher.start(Program(("/bin/true",), "/no/such/folder"), ResourceLimits())
    assert list(tmp_path.iterdir()) == []


# The rest needs a program that is a subreaper, as every worker is, and that has no other children.
_DRIVER = """
import json, os, sys, time
from pathlib import Path
from tourney_runner.process.channel import Caps, Channel
from tourney_runner.process.launcher import PlainLauncher, Program, ResourceLimits
from tourney_runner.process.process_tree import end_unknown_children
from tourney_runner.process.procfs import become_subreaper, children

CAPS = Caps(output=1 << 20, deal_output=1 << 20, stderr=1000, memory=None)
become_subreaper()

def start(code):
    command = (sys.executable, "-S", "-E", "-c", "import os, subprocess, sys, time\\n" + code)
    child = PlainLauncher().start(Program(command, os.getcwd()), ResourceLimits())
    channel = Channel(child, CAPS)
    return child, channel

def first_line(channel):
    return channel.exchange(b"\\n", time.monotonic_ns(), 20 * 10**9)

def mine():
    return [pid for pid in children(os.getpid())]
"""

ESCAPES = {
    "a child": "subprocess.Popen(SLEEP)",
    "a child in a session of its own": "subprocess.Popen(SLEEP, start_new_session=True)",
    "a double fork": "if not os.fork():\n if not os.fork(): time.sleep(600)\n os._exit(0)",
    "a double fork in a session of its own": (
        "if not os.fork():\n os.setsid()\n if not os.fork(): time.sleep(600)\n os._exit(0)"
    ),
    "a tree": "for _ in range(3): os.fork()",
    "children that are stopped": "subprocess.Popen(SLEEP).send_signal(19)",
    "children that ignore signals": (
        "import signal\nfor number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)\nos.fork()"
    ),
    "an orphan with a tree below it": (
        "if not os.fork():\n os.setsid()\n if os.fork(): os._exit(0)\n"
        " os.fork(); os.fork(); time.sleep(600)"
    ),
}


def driven(body: str) -> Any:
    """Return the JSON that a separate program prints at its end."""
    finished = subprocess.run(
        [sys.executable, "-c", _DRIVER + textwrap.dedent(body)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.splitlines()[-1])


@pytest.mark.parametrize("dies_first", [False, True], ids=["bot lives", "bot is gone"])
@pytest.mark.parametrize("escape", ESCAPES)
def test_nothing_that_a_bot_started_outlives_it_not_even_as_a_zombie(
    escape: str, *, dies_first: bool
) -> None:
    code = (
        'SLEEP = [sys.executable, "-SEc", "import time; time.sleep(600)"]\nME = os.getpid()\n'
        f"{ESCAPES[escape]}\n"
        'if os.getpid() == ME:\n time.sleep(0.05); os.write(1, b"up\\n")\n'
        f"{' sys.exit()' if dies_first else ''}\n"
        "time.sleep(600)"
    )
    left = driven(
        f"""
        child, channel = start({code!r})
        first_line(channel)
        if {dies_first}: child.wait(20)
        child.kill()
        gone = not child.temp.exists()
        print(json.dumps([gone, mine()]))
        """
    )
    assert left == [True, []]


def test_ending_one_bot_leaves_the_others_alone() -> None:
    assert driven(
        """
        one, _ = start("time.sleep(600)")
        other, channel = start('for line in sys.stdin: os.write(1, b"here\\\\n")')
        first_line(channel)
        one.kill()
        print(json.dumps([first_line(channel).decode().strip(), mine() == [other.pid]]))
        other.kill()
        """.replace("print(", "result = (").replace("other.kill()", "other.kill(); print(result)")
    ) == ["here", True]


def test_children_that_nobody_knows_are_ended_with_all_below_them() -> None:
    assert driven(
        """
        known, _ = start("time.sleep(600)")
        start("os.fork(); os.fork(); time.sleep(600)")
        time.sleep(0.2)
        found = end_unknown_children({known.pid})
        left = mine()
        known.kill()
        print(json.dumps([found > 0, left == [known.pid], mine()]))
        """
    ) == [True, True, []]


def test_all_children_are_found_however_many_there_are() -> None:
    assert driven(
        """
        born = []
        for _ in range(1000):
            if not (pid := os.fork()): time.sleep(600); os._exit(0)
            born.append(pid)
        found = mine() == born
        print(json.dumps([found, end_unknown_children(set()), mine()]))
        """
    ) == [True, 1000, []]


def test_bots_end_with_the_program_that_started_them(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    program = subprocess.Popen(
        [
            sys.executable,
            "-c",
            _DRIVER + "child, channel = start('os.write(1, b\"up\\\\n\"); time.sleep(600)')\n"
            f"first_line(channel)\nPath({str(pid_file)!r}).write_text(str(child.pid))\n"
            "print('up', flush=True)\ntime.sleep(600)",
        ],
        stdout=subprocess.PIPE,
    )
    assert program.stdout is not None
    program.stdout.readline()
    program.send_signal(signal.SIGKILL)
    program.wait()
    program.stdout.close()
    bot = int(pid_file.read_text())
    for _ in range(1000):
        if state_and_session(bot)[0] in {"", "Z", "X"}:
            return
        time.sleep(0.01)
    pytest.fail("the bot outlives its starter")
