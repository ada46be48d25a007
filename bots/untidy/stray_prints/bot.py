"""Leaves its author's prints in: lines that are no JSON, JSON without an id, blank lines."""

from __future__ import annotations

import json
import random
import sys

chance = random.Random()


def send(message: dict) -> None:
    print("about to send", message)
    print('{"note": "an object without an id"}')
    print("[1, 2, 3]\n\n   \n17")
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        send({"type": "ready", "name": "stray-prints", "legal": "all"})
    elif message.get("type") == "deal":
        print("a new deal!", flush=True)
        chance.seed(message["seed"])
    elif message.get("type") == "move":
        send({"id": message["id"], **chance.choice(message["legal"])})
