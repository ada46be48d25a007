"""Prints lines that are not UTF-8 between its answers."""

from __future__ import annotations

import json
import random
import sys

chance = random.Random()


def send(message: dict) -> None:
    sys.stdout.buffer.write(b"\xff\xfe th\xe9 answer:\n\x00\x80\n")
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()


for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        send({"type": "ready", "name": "stray-bytes", "legal": "all"})
    elif message.get("type") == "deal":
        chance.seed(message["seed"])
    elif message.get("type") == "move":
        send({"id": message["id"], **chance.choice(message["legal"])})
