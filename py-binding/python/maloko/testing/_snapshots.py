"""Plans, states and call logs as text that is the same in every run: for syrupy, and for messages."""

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import TYPE_CHECKING, Any

from maloko.testing._values import Mark

if TYPE_CHECKING:
    from maloko.testing._redaction import Redactor

HIDDEN_IN_SNAPSHOTS = "<secret>"
"""Stands there for what is secret."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?")
_UUID = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_TEMPORARY_DIRECTORIES = {tempfile.gettempdir(), os.path.realpath(tempfile.gettempdir())}
_TEMPORARY = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(_TEMPORARY_DIRECTORIES)))})/[^\s'\",;:]*")
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+\b")


def normalised(value: Any, ids: dict[str, str] | None = None) -> Any:
    """The value with what differs from run to run replaced: the `ids` (by what stands for them), times, UUIDs, paths of
    temporary files, addresses of objects."""
    if isinstance(value, str):
        if ids is not None and value in ids:
            return ids[value]
        for id_, name in sorted((ids or {}).items(), key=lambda item: -len(item[0])):
            if len(id_) >= 6:
                value = value.replace(id_, name)
        text = _TIME.sub("<time>", value)
        text = _TEMPORARY.sub("<temporary>", text)
        return _ADDRESS.sub("at <address>", _UUID.sub("<uuid>", text))
    if isinstance(value, dict):
        return {key: normalised(item, ids) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [normalised(item, ids) for item in value]
    return str(value) if isinstance(value, Mark) else value


class Snapshot:
    """Text for `assert s.snapshot() == snapshot` (syrupy): its `repr` is the text itself."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Snapshot) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return self._text

    def __str__(self) -> str:
        return self._text


def state_snapshot(resources: dict[str, dict[str, Any]], redactor: Redactor) -> Snapshot:
    """The resources of a state, by name: type, inputs, outputs; secret paths and known secrets hidden, ids and times
    replaced."""
    ids = {resource["id"]: f"<id of {name}>" for name, resource in resources.items() if resource["id"]}
    states = {}
    for name, resource in sorted(resources.items()):
        shown = {key: redactor.values(_without(resource[key], resource["secret"])) for key in ("inputs", "outputs")}
        states[name] = {"type": resource["type"], "id": ids.get(resource["id"], ""), **normalised(shown, ids)}
    return Snapshot(json.dumps(states, indent=2, sort_keys=True, default=repr))


def _without(values: dict[str, Any], secret: list[str]) -> dict[str, Any]:
    """The values with `<secret>` in the place of what lies at or below a secret path."""

    def hide(value: Any, path: str) -> Any:
        if path in secret:
            return HIDDEN_IN_SNAPSHOTS
        if isinstance(value, dict):
            return {key: hide(item, f"{path}.{key}" if path else key) for key, item in value.items()}
        if isinstance(value, list):
            return [hide(item, f"{path}[{index}]") for index, item in enumerate(value)]
        return value

    return {key: hide(value, key) for key, value in values.items()}
