"""Writes two megabytes to stderr in every deal, some of it not UTF-8."""

from __future__ import annotations

import json
import random
import sys

chance = random.Random()


def send(message: dict) -> None:
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        send({"type": "ready", "name": "noisy-stderr", "legal": "all"})
    elif message.get("type") == "deal":
        sys.stderr.buffer.write(b"thinking aloud\xff\n" * 2**17)
        sys.stderr.buffer.flush()
        chance.seed(message["seed"])
    elif message.get("type") == "move":
        send({"id": message["id"], **chance.choice(message["legal"])})
