"""Laws of read, import and of what was kept: 3, 9, 15, 16."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maloko._errors import MalokoError
from maloko.testing._laws._compare import differences
from maloko.testing._laws._editing import edited
from maloko.testing._laws._trial import NAME, Broken, Inputs, PassOver, Refused, Trial, entry_of
from maloko.testing._laws._words import error_text
from maloko.testing._laws._worlds import Needs
from maloko.testing._operations._stack import Stack


def read_equals_the_outs(trial: Trial, first: Inputs, then: Inputs) -> None:
    """L3."""
    trial.need("read", "without one what is stored counts as what is there")
    stack = trial.made(first)
    _read_agrees(trial, stack, "create")
    # What becomes of the outputs without an `update` is law 5's.
    if first == then or not trial.has("update") or edited(stack, then).action != "update":
        return
    if stack.run("up").outcome == "succeeded":  # that an update fails is law 4's
        _read_agrees(trial, stack, "update")


def _read_agrees(trial: Trial, stack: Stack, after: str) -> None:
    before = stack.outputs(NAME)
    stack.refresh()
    if NAME not in stack.resources():
        raise Broken("read-finds-nothing", after=after)
    for path, returned, read in differences(before, stack.outputs(NAME), trial.settings.volatile):
        raise Broken("read-differs", after=after, property=path, returned=returned, read=read)


def import_needs_no_change(trial: Trial, inputs: Inputs) -> None:
    """L9."""
    trial.need("read", "an import is a read by id alone")
    stack = trial.made(inputs)
    row = stack.resources()[NAME]
    stack.state = stack.state.without([row["urn"]])
    imported = {"urn": row["urn"], "type": row["type"], "parent": row["parent"], "id": row["id"]}
    run = stack.run("import", imports=[imported])
    failure = run.failure()
    if failure is not None:
        answers = [call.result for call in trial.recorder.of("read")]
        gone = bool(answers) and answers[-1] is not None and not getattr(answers[-1], "id", None)
        raise Broken("import-fails", id=row["id"], error=None if gone else error_text(failure)) from failure
    entry = entry_of(stack.preview())
    if entry.action == "same":
        return
    changes = {path: change for path, change in entry.changes.items() if path not in trial.settings.volatile}
    for path, change in sorted(changes.items()):
        raise Broken("import-changes", id=row["id"], action=entry.action, property=path, read=change.old)
    if not entry.changes:
        raise Broken("import-changes", id=row["id"], action=entry.action)


PORTABLE = 2**53


def results_are_portable(trial: Trial, inputs: Inputs) -> None:
    """L15."""
    if _odd(inputs):
        raise PassOver("inputs that are portable themselves")
    stack = trial.stack(inputs)
    run = stack.run("up")
    for call in run.calls:
        if call.error_kind in ("bad-return", "unreadable"):
            path = re.search(r"'([^']+)'", call.error or "")
            name = path.group(1) if path else None
            raise Broken("unkept", method=call.method, property=name, error=str(call.error))
    if run.outcome != "succeeded":
        raise Refused(f"{run.error}") from run.failure()
    _kept(trial, stack, "create")
    if trial.has("read"):
        stack.refresh()
        if NAME in stack.resources():
            _kept(trial, stack, "read")


def _kept(trial: Trial, stack: Stack, method: str) -> None:
    heard = trial.recorder.of(method)
    if not heard:
        return
    returned: Any = getattr(heard[-1].result, "outs", None) or {}
    for path, why in _odd(returned):
        raise Broken("not-portable", method=method, property=path, why=why)
    stack.restore(json.loads(json.dumps(stack.export())))
    for path, given, loaded in differences(_plain(returned), stack.outputs(NAME)):
        raise Broken("reloaded", method=method, property=path, returned=given, loaded=loaded)


def _plain(value: Any) -> Any:
    """With what a state does not tell apart made equal: tuples and lists, keys that are None or not there."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _number(value: float) -> str:
    """A number that JSON does not have."""
    return "not a number" if math.isnan(value) else "infinity" if value > 0 else "minus infinity"


def _odd(value: Any, path: str = "", above: tuple[int, ...] = ()) -> list[tuple[str, str]]:
    """What in a value is not portable: path and reason."""
    if isinstance(value, bool | None):
        return []
    if isinstance(value, int):
        return [] if -PORTABLE <= value <= PORTABLE else [(path, f"{value}, which no float has exactly")]
    if isinstance(value, float):
        return [] if math.isfinite(value) else [(path, f"{_number(value)}, which JSON does not have")]
    if isinstance(value, str):
        odd = any(0xD800 <= ord(letter) <= 0xDFFF for letter in value)
        return [(path, f"{value!r}, which is no valid text (a lone surrogate)")] if odd else []
    if isinstance(value, bytes | bytearray):
        return [(path, f"{value!r}, which are bytes")]
    if isinstance(value, Mapping | list | tuple):
        if id(value) in above:
            return [(path, "a value that contains itself")]
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        inner = (*above, id(value))
        return [
            it
            for key, item in items
            for it in _odd(
                item,
                (f"{path}.{key}" if path else str(key)) if isinstance(value, Mapping) else f"{path}[{key}]",
                inner,
            )
        ]
    return []


def previous_outs_still_fit(trial: Trial, inputs: Inputs) -> None:
    """L16."""
    if trial.settings.baseline is None:
        raise Needs(
            "`baseline`: what the previous release has left in a state, as a file or a dict: an exported deployment "
            "(stack.export(), maloko stack export), or a list of {'id', 'inputs', 'outputs'}"
        )
    stack = trial.made(inputs)
    now = stack.export()
    for old in baseline_of(trial.settings.baseline, trial.settings.place):
        deployment = copy.deepcopy(now)
        row = _row_of(deployment)
        hidden = {key: value for key, value in row["inputs"].items() if key == "__provider"}
        row["id"] = old["id"]
        row["inputs"] = {**hidden, **old["inputs"]}
        row["outputs"] = {**hidden, **old["outputs"]}
        stack.restore(deployment)
        entry = edited(stack, old["inputs"])
        if entry.action in ("same", "update"):
            continue
        names = ", ".join(entry.replaces or sorted(entry.changes)) or None
        raise Broken("old-replaced", id=old["id"], action=entry.action, property=names)


def baseline_of(given: Any, beside: str) -> list[dict[str, Any]]:
    """The resources of a baseline: `id`, `inputs`, `outputs`. Raises `MalokoError` for one that has none."""
    where = "`baseline`"
    if isinstance(given, str | Path):
        path = Path(beside).parent / given
        where = f"the baseline {given}"
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise MalokoError(f"{where} cannot be read: {error}") from error
    if isinstance(given, Mapping):
        # A file of `maloko.baseline` holds an export, and that a deployment; what stands for providers is not in it.
        while isinstance(given.get("deployment"), Mapping):
            given = given["deployment"]
        rows = given.get("resources") or []
        given = [row for row in rows if row.get("custom") and ":dynamic" in str(row.get("type"))]
    found = [
        {
            "id": str(row["id"]),
            "inputs": _shown(row.get("inputs") or {}),
            "outputs": _shown(row.get("outputs") or {}),
        }
        for row in given
        if isinstance(row, Mapping) and row.get("id")
    ]
    if not found:
        raise MalokoError(
            f"{where} has no resource of a dynamic provider: give an exported deployment, or a list of "
            "{'id': ..., 'inputs': {...}, 'outputs': {...}}"
        )
    return found


def _shown(bag: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in bag.items() if not key.startswith("__")}


def _row_of(deployment: dict[str, Any]) -> dict[str, Any]:
    for row in deployment["deployment"]["resources"] if "deployment" in deployment else deployment["resources"]:
        if row["urn"].endswith(f"::{NAME}"):
            found: dict[str, Any] = row
            return found
    raise PassOver("a resource in the state")
