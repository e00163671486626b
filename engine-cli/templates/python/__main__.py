"""Keeps two notes as files in the directory `notes`."""

import pulumi

from note import Note

config = pulumi.Config()
author = config.get("author") or "nobody"

first = Note("first", file="first.txt", text=f"written by {author}")
second = Note("second", file="second.txt", text=first.text.apply(lambda text: f"the first note says: {text}"))

pulumi.export("paths", [first.path, second.path])
