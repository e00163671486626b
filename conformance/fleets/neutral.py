#!/usr/bin/env python3
"""Takes out of recorded runs where and by whom they were made: no decision of a run depends on that.

    neutral.py FOLDER

Rewrites each file of a history (`*.binpb`) below the folder: host names, processes and directories.
"""

import asyncio
import platform
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.api.history.v1 import History

from maloko.fleet._codec import FleetCodec

HOST, FOLDER = re.escape(platform.node()), re.escape(tempfile.gettempdir())
RULES = (
    (re.compile(rf"{FOLDER}/[^\"\s]*"), "/fleet"),
    (re.compile(rf"\d+@{HOST}\b"), "1@host"),
    (re.compile(rf"\b{HOST}:\d+"), "host:1"),
)
CODEC = FleetCodec(None)


def without(text: str) -> str:
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return text


def neutralise(message: Message) -> None:
    """Rewrites a message in place, with all that it holds."""
    if isinstance(message, Payload):
        [plain] = asyncio.run(CODEC.decode([message]))
        plain.data = without(plain.data.decode()).encode()
        message.CopyFrom(*asyncio.run(CODEC.encode([plain])))
        return
    for field, value in message.ListFields():
        if field.type == field.TYPE_STRING and isinstance(value, str):
            setattr(message, field.name, without(value))
        elif field.type == field.TYPE_MESSAGE:
            for part in parts_of(value):
                neutralise(part)


def parts_of(value: Any) -> list[Message]:
    """The messages of a field: one, several, or those of a map."""
    if isinstance(value, Message):
        return [value]
    parts = value.values() if hasattr(value, "values") else value
    return [part for part in parts if isinstance(part, Message)]


def main() -> None:
    for file in Path(sys.argv[1]).rglob("*.binpb"):
        history = History.FromString(file.read_bytes())
        neutralise(history)
        file.write_bytes(history.SerializeToString())


if __name__ == "__main__":
    main()
