"""The provider of notes: files in the folder `NOTES_WORLD`. A module of the plugin, which no other process has."""

import json
import os
from pathlib import Path
from typing import Any

from pulumi.dynamic import (
    CheckFailure,
    CheckResult,
    ConfigureRequest,
    CreateResult,
    DiffResult,
    ReadResult,
    ResourceProvider,
    UpdateResult,
)


def place(id_: str) -> Path:
    return Path(os.environ["NOTES_WORLD"]) / f"{id_}.json"


class Notes(ResourceProvider):
    def __init__(self, revision: str) -> None:
        self.revision = revision

    def configure(self, req: ConfigureRequest) -> None:
        self.greeting = req.config.get("greeting") or ""

    def _write(self, id_: str, props: dict[str, Any]) -> dict[str, Any]:
        said = {"text": props["text"], "made_by": f"{self.greeting}{self.revision}", "url": f"note://{id_}"}
        place(id_).write_text(json.dumps({**said, "cwd": str(Path.cwd())}))
        return {**said, "slot": props["slot"]}

    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
        failures = [CheckFailure("text", "this text is refused")] if news.get("text") == "refused" else []
        return CheckResult({**news, "slot": news.get("slot", "top")}, failures)

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        if news.get("vague"):
            return DiffResult()
        moved = olds["slot"] != news["slot"]
        return DiffResult(changes=moved or olds["text"] != news["text"], replaces=["slot"] if moved else [])

    def create(self, props: dict[str, Any]) -> CreateResult:
        if props["text"] == "broken":
            raise ValueError("this note cannot be written")
        outs = self._write(props["slot"], props)
        if props["text"] == "die":
            os._exit(7)
        return CreateResult(props["slot"], outs)

    def update(self, id_: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        return UpdateResult(self._write(id_, news))

    def read(self, id_: str, props: dict[str, Any]) -> ReadResult:
        if not place(id_).exists():
            return ReadResult(None, {})
        found = json.loads(place(id_).read_text())
        return ReadResult(id_, {**props, "text": found["text"]})

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        place(id_).unlink(missing_ok=True)
