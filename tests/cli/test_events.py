"""Events of a run, given to the organiser's command and listed in the feed of the site."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from whole_program import Arena, until

NOTIFY = Path(__file__).parents[2] / "docs" / "examples" / "notify.py"
ATOM = "{http://www.w3.org/2005/Atom}"

TAKES = """\
import json, sys
event = json.load(sys.stdin)
open("given.jsonl", "a").write(json.dumps(event) + "\\n")
print("this is not for the terminal")
"""
REFUSES = 'import sys\nprint("no such room")\nsys.exit(3)\n'


def given(arena: Arena) -> list[dict[str, Any]]:
    path = arena.path / "given.jsonl"
    return (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    )


def configure(arena: Arena, command: list[str], *names: str, **keys: Any) -> Path:
    bots = [arena.bot(name) for name in names or ("one", "two")]
    bots.append(arena.bot("staff") | {"reference": True})
    (arena.path / "takes.py").write_text(TAKES, encoding="utf-8")
    (arena.path / "refuses.py").write_text(REFUSES, encoding="utf-8")
    return arena.configure(bots, on_event=command, **keys)


def test_each_event_reaches_the_command_once_it_takes_it(arena: Arena) -> None:
    config = configure(arena, ["{python}", "refuses.py"], publish={"url": "https://example.org/x"})
    ended = arena.run("run", config, "--out", "out", "--quiet")
    assert (
        "on_event has not taken the event `started`: exit status 3 (no such room)" in ended.stderr
    )
    assert arena.table()["complete"]
    statuses = {name: row["status"] for name, row in arena.rows().items()}
    assert statuses == {"one": "ranked", "two": "ranked", "staff": "reference"}

    config.write_text(config.read_text("utf-8").replace("refuses.py", "takes.py"), encoding="utf-8")
    ended = arena.run("run", config, "--out", "out")
    assert "not for the terminal" not in ended.stdout + ended.stderr
    first = given(arena)
    assert [event["event"] for event in first] == ["started", "finished"]
    assert len({event["id"] for event in first}) == 2
    assert first[1]["url"] == "https://example.org/x/"
    assert {row["name"] for row in first[1]["table"]} == {"one", "two", "staff"}

    arena.call("disqualify", "out", "two", "--reason", "it copied <one>")
    arena.run("run", config, "--out", "out")
    assert [event["event"] for event in given(arena)[2:]] == ["disqualified"]
    assert given(arena)[-1]["text"] == "two is disqualified: it copied <one>"
    arena.run("run", config, "--out", "out")
    assert len(given(arena)) == 3

    feed = ET.parse(arena.path / "out" / "site" / "feed.xml").getroot()  # noqa: S314 - our own file
    titles = [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")]
    assert titles[0] == "two is disqualified: it copied <one>"
    assert [link.get("href") for link in feed.iter(f"{ATOM}link")][:2] == [
        "https://example.org/x/index.html", "https://example.org/x/feed.xml",
    ]  # fmt: skip
    assert f"urn:uuid:{first[0]['id']}" in {entry.findtext(f"{ATOM}id") for entry in feed}


def test_a_command_that_cannot_start_does_not_stop_the_run(arena: Arena) -> None:
    config = configure(arena, ["/no/such/program"])
    ended = arena.run("run", config, "--out", "out")
    assert "it cannot be started (No such file or directory)" in ended.stderr
    assert arena.table()["complete"]


def test_a_new_command_gets_no_past_events_but_that_a_run_failed(arena: Arena) -> None:
    configure(arena, [])
    config = arena.configure([arena.bot("one"), arena.bot("two")])
    arena.run("run", config, "--out", "out")
    document = config.read_text("utf-8") + "on_event: ['{python}', takes.py]\n"
    config.write_text(document, encoding="utf-8")
    arena.run("run", config, "--out", "out")
    assert given(arena) == []
    (arena.path / "out" / "site" / "site.json").unlink()
    ended = arena.run("run", config, "--out", "out", status=2)
    assert "holds other files" in ended.stderr
    assert [event["event"] for event in given(arena)] == ["failed"]
    assert "holds other files" in given(arena)[0]["text"]


class Chat(BaseHTTPRequestHandler):
    """A chat's server, which keeps what it gets."""

    got: list[tuple[str, str, dict[str, Any], str | None]]

    def _take(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append((self.command, self.path, json.loads(body), self.headers["Authorization"]))
        self.send_response(200)
        self.end_headers()

    do_POST = do_PUT = _take  # noqa: N815 - names of the base class

    def log_message(self, *_: object) -> None:
        pass


def test_the_recipes_send_messages_to_chats() -> None:
    Chat.got = []
    server = HTTPServer(("127.0.0.1", 0), Chat)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    event = {
        "id": "0b", "event": "finished", "text": "cup: <done>", "url": "https://example.org/",
        "table": [{"rank": 1, "name": "a & b"}],
    }  # fmt: skip
    secrets = {
        "SLACK_WEBHOOK": f"{address}/slack", "DISCORD_WEBHOOK": f"{address}/discord",
        "MATRIX_SERVER": address, "MATRIX_ROOM": "!r:example.org", "MATRIX_TOKEN": "t",
    }  # fmt: skip

    def notify(service: str, status: int = 0, **changes: Any) -> str:
        ended = subprocess.run(
            [sys.executable, NOTIFY, service], input=json.dumps(event | changes), text=True,
            env={"PATH": os.environ["PATH"], **secrets}, capture_output=True, check=False,
        )  # fmt: skip
        assert ended.returncode == status, ended
        return ended.stderr

    try:
        for service in ("slack", "discord", "matrix"):
            notify(service)
        notify("slack", event="started")  # not worth a message
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    slack, discord, matrix = until(lambda: Chat.got)
    assert slack[2]["text"] == "cup: &lt;done&gt;\n1. a &amp; b\nhttps://example.org/"
    assert discord[2]["allowed_mentions"] == {"parse": []}
    assert matrix[:2] == (
        "PUT",
        "/_matrix/client/v3/rooms/%21r%3Aexample.org/send/m.room.message/0b",
    )
    assert matrix[3] == "Bearer t"
    assert notify("slack", status=1).startswith("notify.py: URLError")
