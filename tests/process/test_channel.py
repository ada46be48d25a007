"""The pipe to a bot: one request, one deadline, bounded memory."""

from __future__ import annotations

import os
import select
import sys
import time
from pathlib import Path
from time import monotonic_ns
from typing import TYPE_CHECKING

import pytest
from tourney_runner.process.channel import Caps, Channel, ExchangeError
from tourney_runner.process.launcher import PlainLauncher, Program, ResourceLimits
from tourney_runner.process.procfs import become_subreaper, children

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tourney_runner.process.child import Child

    Start = Callable[..., tuple[Child, Channel]]

SECOND = 1_000_000_000


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a line of Python and gives it with its channel; all end with the test."""
    children: list[Child] = []

    def start(
        code: str,
        *,
        output: int = 1 << 20,
        deal_output: int = 16 << 20,
        memory: int | None = None,
    ) -> tuple[Child, Channel]:
        command = (sys.executable, "-S", "-E", "-c", f"import os, sys, time\n{code}")
        child = PlainLauncher().start(Program(command, str(tmp_path)), ResourceLimits())
        children.append(child)
        caps = Caps(output=output, deal_output=deal_output, stderr=1000, memory=memory)
        return child, Channel(child, caps)

    yield start
    for child in children:
        child.kill()


def ask(channel: Channel, payload: bytes = b"?\n", patience: int = 20 * SECOND) -> bytes:
    return channel.exchange(payload, monotonic_ns(), patience)


def test_lines_come_one_at_a_time_and_blank_ones_not_at_all(start: Start) -> None:
    _, channel = start('os.write(1, b"one\\r\\n\\n  \\ntwo\\nthr"); os.write(1, b"ee\\n")')
    asked = monotonic_ns()
    lines = [channel.exchange(b"?\n", asked, 20 * SECOND)]
    lines += [channel.next_line(asked, 20 * SECOND) for _ in range(2)]
    assert [line.rstrip(b"\r\n") for line in lines] == [b"one", b"two", b"three"]


def test_what_was_written_before_the_end_is_still_read(start: Start) -> None:
    child, channel = start('os.write(1, b"last words\\n")')
    assert child.wait(20)
    assert ask(channel).strip() == b"last words"
    with pytest.raises(ExchangeError, match="ended"):
        ask(channel)


def test_a_last_line_without_a_newline_is_none(start: Start) -> None:
    _, channel = start('os.write(1, b"last wor")')
    with pytest.raises(ExchangeError, match="ended"):
        ask(channel)
    assert channel.received() == b"last wor"


def test_a_deadline_that_has_passed_ends_the_wait_at_once(start: Start) -> None:
    _, channel = start("time.sleep(60)")
    with pytest.raises(ExchangeError, match="deadline"):
        ask(channel, patience=-1)


@pytest.mark.parametrize("limit", [SECOND // 200, 10 * SECOND])
def test_a_worker_that_comes_back_late_says_so_whatever_the_limit(start: Start, limit: int) -> None:
    child, channel = start('os.write(1, b"done\\n"); time.sleep(60)')
    assert select.select([child.stdout], [], [], 20)[0]
    channel.allow(limit)
    asked = monotonic_ns() - SECOND
    assert channel.exchange(b"?\n", asked, 20 * SECOND).strip() == b"done"
    assert channel.take_late(asked, monotonic_ns())[0] > SECOND // 2


def test_lines_that_wait_do_not_outlive_the_deadline(start: Start) -> None:
    _, channel = start('os.write(1, b"hm\\n" * 1000); time.sleep(60)')
    ask(channel)
    with pytest.raises(ExchangeError, match="deadline"):
        ask(channel, patience=-1)


def _read_on(channel: Channel) -> None:
    asked = monotonic_ns()
    line = channel.exchange(b"?\n", asked, 20 * SECOND)
    while True:
        line = channel.next_line(asked, 20 * SECOND, len(line))


@pytest.mark.parametrize("text", ["x", "x\\n", "\\n"])
def test_no_more_than_the_cap_is_read_for_one_request(start: Start, text: str) -> None:
    _, channel = start(f'while True: os.write(1, b"{text}" * 10_000)', output=100_000)
    with pytest.raises(ExchangeError, match="flood"):
        _read_on(channel)
    assert len(channel.received()) <= 200_000


def test_the_cap_counts_anew_for_each_request(start: Start) -> None:
    _, channel = start('for line in sys.stdin: os.write(1, b"x" * 900 + b"\\n")', output=1000)
    for _ in range(10):
        assert len(ask(channel).strip()) == 900


def test_a_line_that_was_there_at_once_counts_with_those_that_follow(start: Start) -> None:
    child, channel = start(
        'os.write(1, b"x" * 900 + b"\\n"); os.read(0, 1)\n'
        'os.write(1, b"y" * 900 + b"\\n"); time.sleep(60)',
        output=1000,
    )
    assert select.select([child.stdout], [], [], 20)[0]
    with pytest.raises(ExchangeError, match="flood"):
        _read_on(channel)


def test_what_a_bot_writes_in_a_whole_deal_has_a_cap_too(start: Start) -> None:
    _, channel = start(
        'for line in sys.stdin: os.write(1, b"x" * 900 + b"\\n")', output=1000, deal_output=5000
    )
    for _ in range(2):
        channel.deal()
        for _ in range(5):
            ask(channel)
    with pytest.raises(ExchangeError, match="deal flood"):
        ask(channel)


def test_stderr_is_read_while_waiting_and_kept_at_both_ends(start: Start) -> None:
    _, channel = start(
        'os.write(2, b"first" + b"." * 3_000_000 + b"last")\n'
        'os.write(1, b"done\\n"); time.sleep(60)'
    )
    assert ask(channel).strip() == b"done"
    text = channel.stderr()
    assert text.startswith("first")
    assert text.endswith("last")
    assert len(text) < 1100
    assert channel.stderr() == ""


def test_stderr_is_read_with_every_answer_where_a_bot_has_little_time(start: Start) -> None:
    """A bot would spend its limit on waiting for room in the pipe."""
    child, channel = start('os.write(2, b"hm"); os.write(1, b"done\\n"); time.sleep(60)')
    channel.allow(SECOND // 200)
    ask(channel)
    assert not select.select([child.stderr], [], [], 0)[0]


def test_a_request_larger_than_the_pipe_is_written_while_the_answer_is_read(start: Start) -> None:
    # The bot answers with as much as it reads, so both pipes are full at times.
    _, channel = start(
        "while data := os.read(0, 1000):\n"
        ' os.write(1, b"x" * len(data))\n'
        ' if data.endswith(b"\\n"): os.write(1, b"\\n")',
        output=1 << 20,
    )
    answer = ask(channel, b"y" * 700_000 + b"\n")
    assert len(answer.strip()) == 700_001


def test_the_end_is_seen_although_a_child_holds_the_pipe(start: Start) -> None:
    child, channel = start("if os.fork(): os._exit(3)\ntime.sleep(60)")
    with pytest.raises(ExchangeError, match="ended"):
        ask(channel)
    assert child.has_exited()


def test_the_end_is_seen_although_a_child_chatters(start: Start) -> None:
    _, channel = start('if os.fork(): os._exit(3)\nwhile True: os.write(2, b"hm\\n" * 100)')
    with pytest.raises(ExchangeError, match="ended"):
        ask(channel)


def test_memory_is_looked_at_although_the_bot_chatters(start: Start) -> None:
    _, channel = start(
        'hoard = b"x" * 100_000_000\nwhile True: os.write(2, b"hm\\n" * 100)', memory=50_000_000
    )
    with pytest.raises(ExchangeError, match="memory"):
        ask(channel)


def test_processes_and_threads_are_counted_where_the_system_does_not(start: Start) -> None:
    _, channel = start(
        "import threading\n"
        "for _ in range(20): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "for _ in range(20):\n    if not os.fork(): time.sleep(60)\n"
        "time.sleep(60)"
    )
    with pytest.raises(ExchangeError, match="processes"):
        ask(channel)


def test_processes_that_have_lost_their_parents_count_as_well(start: Start) -> None:
    become_subreaper()  # as every program is that starts bots
    others = set(children(os.getpid()))  # a browser that other tests share, say
    leave = "if not os.fork():\n  {}\n  if os.fork(): os._exit(0)\n  {}; os._exit(0)\n os.wait()"
    for session in ("pass", "os.setsid()"):  # any number may come and go
        once = leave.format(session, "pass")
        child, channel = start(
            f'for _ in range(40):\n {once}\n os.write(1, b"on\\n"); os.read(0, 9)'
        )
        for _ in range(40):
            assert ask(channel).strip() == b"on"
            child.processes()
        until_dead = time.monotonic() + 20
        while len(child.processes()) > 1 or set(children(os.getpid())) - others != {child.pid}:
            assert time.monotonic() < until_dead
            time.sleep(0.01)
        child.kill()
    leave = leave.format("pass", "{}")
    _, channel = start(f"for _ in range(40):\n {leave.format('time.sleep(60)')}\ntime.sleep(60)")
    with pytest.raises(ExchangeError, match="processes"):
        ask(channel)


def test_memory_that_processes_share_counts_once(start: Start) -> None:
    """Count the memory of a bot that loads its model and then forks."""
    child, channel = start(
        'model = b"x" * 60_000_000\nfor _ in range(2):\n    if not os.fork(): time.sleep(60)\n'
        'print("ready", flush=True)\ntime.sleep(60)',
    )
    ask(channel)
    assert child.memory() > 150_000_000
    assert not child.holds_more_than(150_000_000)
    assert child.holds_more_than(50_000_000)


def test_two_hundred_starts_leave_no_descriptor_and_no_process(start: Start) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(200):
        child, channel = start("time.sleep(60)" if number % 2 else "raise SystemExit(1)")
        with pytest.raises(ExchangeError):
            ask(channel, patience=1_000_000)
        child.kill()
        assert not Path(f"/proc/{child.pid}").exists()
        assert child.temp is not None
        assert not child.temp.exists()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
