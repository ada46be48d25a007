"""Send an event of tourney to a chat: a command for ``on_event``.

    on_event: python3 notify.py slack      # SLACK_WEBHOOK
    on_event: python3 notify.py discord    # DISCORD_WEBHOOK
    on_event: python3 notify.py matrix     # MATRIX_SERVER, MATRIX_ROOM, MATRIX_TOKEN

The addresses and tokens are secrets, so they come from the environment and not from a file. The
script needs nothing but Python. It ends with status 1 if the chat did not take the message, and
tourney then gives it the event again in the next run.
"""

import json
import os
import sys
import urllib.parse
import urllib.request
from typing import Any

WANTED = {"finished", "changed", "failed", "benched", "disqualified"}
"""The events that are worth a message."""


def message(event: dict[str, Any]) -> str:
    """Return the text for people, with the first rows of the ranking and the address."""
    lines = [event["text"]]
    lines += [f"{row['rank']}. {row['name']}" for row in event.get("table", [])[:3]]
    lines += [event["url"]] if event.get("url") else []
    return "\n".join(lines)


def request(service: str, event: dict[str, Any]) -> tuple[str, str, dict[str, Any], dict[str, str]]:
    """Return the address, method, body and headers of the request to a service."""
    text = message(event)
    if service == "slack":
        safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return os.environ["SLACK_WEBHOOK"], "POST", {"text": safe, "parse": "none"}, {}
    if service == "discord":
        body = {"content": text[:2000], "allowed_mentions": {"parse": []}}
        return os.environ["DISCORD_WEBHOOK"], "POST", body, {}
    if service == "matrix":
        server, room = os.environ["MATRIX_SERVER"].rstrip("/"), os.environ["MATRIX_ROOM"]
        # Matrix drops a second message with the same transaction id: the id of the event.
        path = f"rooms/{urllib.parse.quote(room)}/send/m.room.message/{event['id']}"
        address = f"{server}/_matrix/client/v3/{path}"
        token = {"Authorization": f"Bearer {os.environ['MATRIX_TOKEN']}"}
        return address, "PUT", {"msgtype": "m.notice", "body": text}, token
    sys.exit(f"notify.py: no service {service!r}; give slack, discord or matrix")


def main() -> None:
    """Send the event on standard input."""
    event = json.load(sys.stdin)
    if event["event"] not in WANTED:
        return
    address, method, body, headers = request(sys.argv[1], event)
    headers = {"Content-Type": "application/json", "User-Agent": "tourney", **headers}
    data = json.dumps(body).encode()
    asked = urllib.request.Request(address, data, headers, method=method)  # noqa: S310 - yours
    with urllib.request.urlopen(asked, timeout=20) as answer:  # noqa: S310 - as above
        answer.read()


if __name__ == "__main__":
    try:
        main()
    except (OSError, KeyError, IndexError) as error:
        sys.exit(f"notify.py: {type(error).__name__}: {error}")
