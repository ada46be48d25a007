from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

import pexpect
import pytest
from authors_program import BOTS, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

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


class Client:
    """A minimal client of the Debug Adapter Protocol.

    https://microsoft.github.io/debug-adapter-protocol/specification
    """

    def __init__(self, port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), 60) as connection:
            self._stream = connection.makefile("rwb")  # which keeps the connection open
        self._sent = 0

    def close(self) -> None:
        self._stream.close()

    def request(self, command: str, **arguments: object) -> None:
        self._sent += 1
        message = {"seq": self._sent, "type": "request", "command": command}
        body = json.dumps({**message, "arguments": arguments}).encode()
        self._stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._stream.flush()

    def wait_for(self, name: str) -> dict[str, Any]:
        """Return the body of the next event or successful response of this name."""
        while True:
            length = 0
            while (header := self._stream.readline().strip()) or not length:
                assert header, "the adapter has closed the connection"
                if header.lower().startswith(b"content-length:"):
                    length = int(header.partition(b":")[2])
            message = json.loads(self._stream.read(length))
            assert message.get("success", True), message
            if name in (message.get("event"), message.get("command")):
                body: dict[str, Any] = message.get("body") or {}
                return body


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def test_debugpy_stops_a_bot_in_its_own_code(tourney: Program) -> None:
    pytest.importorskip("debugpy", reason="debugpy is not installed: tox -e debugpy")
    [listen] = re.findall(r"```python\n(import debugpy\n.*?)```", PAGE, re.DOTALL)
    port = free_port()
    source = listen.replace("5678", str(port)) + CLOCK_READER
    tourney.write("mine/bot.py", source)
    tourney.write("mine/bot.yaml", 'name: mine\ncommand: ["{python}", bot.py]\n')
    terminal = tourney.at_a_terminal("check", "mine", "--debug", "--game", "tienlen", columns=400)
    terminal.expect(r"the bot runs as process \d+ in (\S+)")
    assert terminal.match is not None
    folder = terminal.match[1].rstrip(",;.:")
    terminal.expect("press Enter here")
    _wait_until(lambda: _accepts(port))
    client = Client(port)
    client.request("initialize", adapterID="tests", pathFormat="path")
    client.wait_for("initialize")
    client.request("attach", connect={"host": "127.0.0.1", "port": port})
    client.wait_for("initialized")
    line = source.splitlines().index(next(it for it in source.splitlines() if 'legal"][0]' in it))
    path = f"{folder}/bot.py"
    client.request("setBreakpoints", source={"path": path}, breakpoints=[{"line": line + 1}])
    assert client.wait_for("setBreakpoints")["breakpoints"][0]["verified"]
    client.request("configurationDone")
    client.wait_for("configurationDone")
    terminal.sendline()
    stopped = client.wait_for("stopped")
    client.request("stackTrace", threadId=stopped["threadId"])
    [frame, *_] = client.wait_for("stackTrace")["stackFrames"]
    assert (frame["source"]["path"], frame["line"]) == (path, line + 1)
    client.request("disconnect", terminateDebuggee=False)
    client.wait_for("disconnect")
    client.close()
    terminal.expect("ok       tienlen: 4 players, without limits: 1 deal, ")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0


def _accepts(port: int) -> bool:
    """Return whether a program listens on a port, without a connection to it."""
    listening = Path("/proc/net/tcp").read_text(encoding="ascii")
    return f"0100007F:{port:04X} 00000000:0000 0A" in listening


def _wait_until(done: Callable[[], bool]) -> None:
    while not done():
        time.sleep(0.05)


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


ATTACH: dict[str, tuple[set[str], set[str]]] = {
    "debugpy": ({"connect"}, {"pathMappings", "justMyCode", "subProcess"}),
    "node": ({"port"}, {"address", "localRoot", "remoteRoot", "skipFiles", "continueOnAttach"}),
    "cppdbg": (
        {"program", "processId"},
        {"MIMode", "miDebuggerPath", "sourceFileMap", "setupCommands", "additionalSOLibSearchPath"},
    ),
}
"""The required and some optional fields of `attach`, by debugger.

They are kept by hand, for the extensions ms-python.debugpy, ms-vscode.js-debug and
ms-vscode.cpptools.
"""


def test_the_launch_file_attaches_to_each_kind_of_bot() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    launch = json.loads(text)
    assert launch["version"] == "0.2.0"
    assert set(launch) == {"version", "configurations"}
    kinds = {one["type"]: one for one in launch["configurations"]}
    assert set(kinds) == set(ATTACH)
    for kind, one in kinds.items():
        required, optional = ATTACH[kind]
        assert one["request"] == "attach"
        assert required <= set(one) - {"name", "type", "request"} <= required | optional
        assert one["name"]
    assert set(kinds["debugpy"]["connect"]) == {"host", "port"}
    for mapping in kinds["debugpy"]["pathMappings"]:
        assert set(mapping) == {"localRoot", "remoteRoot"}
    assert kinds["cppdbg"]["MIMode"] in ("gdb", "lldb")
    assert isinstance(kinds["node"]["port"], int)
