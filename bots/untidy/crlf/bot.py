r"""Ends its lines with \r\n, as programs on some systems do."""

from __future__ import annotations

import json
import random
import sys

chance = random.Random()


def send(message: dict) -> None:
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\r\n")
    sys.stdout.buffer.flush()


for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        send({"type": "ready", "name": "crlf", "legal": "all"})
    elif message.get("type") == "deal":
        chance.seed(message["seed"])
    elif message.get("type") == "move":
        send({"id": message["id"], **chance.choice(message["legal"])})
