"""Adds fields that the protocol does not know to everything it says."""

from __future__ import annotations

import json
import random
import sys

chance = random.Random()
EXTRA = {"mood": "hopeful", "nested": {"id": -1, "play": ["JK"]}, "list": [None, 1.5e300, "\u2028"]}


def send(message: dict) -> None:
    print(json.dumps({**EXTRA, **message, "trailing": True}), flush=True)


for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        send({"type": "ready", "name": "extra-fields", "legal": "all"})
    elif message.get("type") == "deal":
        chance.seed(message["seed"])
    elif message.get("type") == "move":
        send({"id": message["id"], **chance.choice(message["legal"])})
