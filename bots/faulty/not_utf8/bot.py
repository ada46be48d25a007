"""Answers with bytes that are not UTF-8."""

from __future__ import annotations

import json
import sys

for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    if message.get("type") == "hello":
        print('{"type": "ready", "name": "not-utf8"}', flush=True)
    elif message.get("type") == "move":
        sys.stdout.buffer.write(b'{"id": %d, "play": ["\xff\xfe"]}\n' % message["id"])
        sys.stdout.buffer.flush()
