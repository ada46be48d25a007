"""Neither SIGTERM nor a closed stdin ends it: it has to be killed."""

from __future__ import annotations

import json
import random
import signal
import sys
import time

chance = random.Random()
signal.signal(signal.SIGTERM, signal.SIG_IGN)


def send(message: dict) -> None:
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        send({"type": "ready", "name": "ignores-sigterm", "legal": "all"})
    elif message.get("type") == "deal":
        chance.seed(message["seed"])
    elif message.get("type") == "move":
        send({"id": message["id"], **chance.choice(message["legal"])})

time.sleep(600)
