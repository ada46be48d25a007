"""Gives a legal answer after three times the time that it has."""

from __future__ import annotations

import json
import sys
import time

patience = 0.0

for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        limits = message["limits"]
        patience = 3 * (limits["move"] + limits["bank"]) / 1000
        print('{"type": "ready", "name": "late", "legal": "canonical"}', flush=True)
    elif message.get("type") == "move":
        time.sleep(patience)
        answer = {"id": message["id"], **message["legal"][0]}
        print(json.dumps(answer), flush=True)
