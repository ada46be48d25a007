"""Leaves two sleeping children behind.

One holds the bot's stdout open, so that its reader gets no end of file when the bot is gone. The
other is in a session of its own, out of reach of a signal to the bot's process group.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys

chance = random.Random()
SLEEPER = [sys.executable, "-E", "-S", "-c", "import time; time.sleep(600)"]


def send(message: dict) -> None:
    print(json.dumps(message), flush=True)


subprocess.Popen(SLEEPER, stdin=subprocess.DEVNULL)
subprocess.Popen(
    SLEEPER,
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
    start_new_session=True,
)

for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        send({"type": "ready", "name": "child-left-behind", "legal": "all"})
    elif message.get("type") == "deal":
        chance.seed(message["seed"])
    elif message.get("type") == "move":
        send({"id": message["id"], **chance.choice(message["legal"])})
