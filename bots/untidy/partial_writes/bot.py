"""Writes its answers in pieces, with a pause in the middle of a line."""

from __future__ import annotations

import json
import random
import sys
import time

chance = random.Random()


def send(message: dict) -> None:
    text = json.dumps(message) + "\n"
    for piece in (text[:1], text[1:9], text[9:-1], text[-1:]):
        sys.stdout.write(piece)
        sys.stdout.flush()
        time.sleep(0.001)


for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        send({"type": "ready", "name": "partial-writes", "legal": "all"})
    elif message.get("type") == "deal":
        chance.seed(message["seed"])
    elif message.get("type") == "move":
        send({"id": message["id"], **chance.choice(message["legal"])})
