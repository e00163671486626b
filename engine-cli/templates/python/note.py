"""A dynamic provider: notes, kept as files. Replace the file access by calls of a client for your own service."""

from pathlib import Path
from typing import Any

import pulumi
from pulumi.dynamic import (
    CheckFailure,
    CheckResult,
    CreateResult,
    DiffResult,
    ReadResult,
    Resource,
    ResourceProvider,
    UpdateResult,
)

DIRECTORY = Path(__file__).parent / "notes"


class NoteProvider(ResourceProvider):
    """What happens when a note is made, changed, looked up and removed. These methods run in your own process: set a
    breakpoint in any of them."""

    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
        failures = []
        if "/" in news["file"]:
            failures.append(CheckFailure("file", "a note lies directly in the directory `notes`"))
        return CheckResult(news, failures)

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        replaces = ["file"] if olds["file"] != news["file"] else []
        return DiffResult(changes=bool(replaces) or olds["text"] != news["text"], replaces=replaces)

    def create(self, props: dict[str, Any]) -> CreateResult:
        DIRECTORY.mkdir(exist_ok=True)
        path = DIRECTORY / props["file"]
        path.write_text(props["text"], encoding="utf-8")
        return CreateResult(props["file"], {**props, "path": str(path)})

    def read(self, id_: str, props: dict[str, Any]) -> ReadResult:
        path = DIRECTORY / id_
        if not path.exists():
            return ReadResult("", {})
        return ReadResult(id_, {**props, "text": path.read_text(encoding="utf-8"), "path": str(path)})

    def update(self, id_: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        path = DIRECTORY / id_
        path.write_text(news["text"], encoding="utf-8")
        return UpdateResult({**news, "path": str(path)})

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        (DIRECTORY / id_).unlink(missing_ok=True)


class Note(Resource):
    """A note."""

    file: pulumi.Output[str]
    text: pulumi.Output[str]
    path: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        file: pulumi.Input[str],
        text: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(NoteProvider(), name, {"file": file, "text": text, "path": None}, opts)
