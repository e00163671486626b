"""A call from a log, made again: a report of a bug becomes a test."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from maloko._errors import MalokoError
from maloko._process.tracebacks import message_with_causes
from maloko.testing._direct import Direct
from maloko.testing._values import ANY, HIDDEN, mismatches

_ORDER = {
    "check": ("olds", "news"),
    "diff": ("id", "olds", "news"),
    "create": ("props",),
    "read": ("id", "props"),
    "update": ("id", "olds", "news"),
    "delete": ("id", "props"),
    "find": ("key", "props"),
}
_WILD = ("*", HIDDEN)
"""Texts in a recorded result that stand for anything."""


def replay(path: str | Path, provider: Any, **settings: Any) -> Any:
    """Makes the call that `Call.save` wrote, on a provider without an engine, and gives its result; `"*"` in the file
    stands for anything. Raises `AssertionError` when the call does not come to the same, and `MalokoError` for a file
    that has no call.

    :param settings: as for `Direct`: `config`, `project`.
    """
    try:
        call = json.loads(Path(path).read_text(encoding="utf-8"))
        method, args = call["method"], call["args"]
        arguments = [args[name] for name in _ORDER[method]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MalokoError(
            f"{path} is no call that could be made again ({error!r}); write one with `s.calls.create['b'].save(path)`"
        ) from error
    direct = Direct(provider, **settings)
    expected_error = call.get("error")
    try:
        with direct:
            result = getattr(direct, method)(*arguments)
    except Exception as error:
        if expected_error is None:
            raise
        told = f"{type(error).__name__}: {error}"
        if expected_error not in (*_WILD, told, str(error), message_with_causes(error)):
            raise AssertionError(f"{method} failed otherwise than in {path}: {told}, not: {expected_error}") from error
        return None
    if expected_error is not None:
        raise AssertionError(f"{method} fails in {path} ({expected_error}), and did not fail here")
    lines = mismatches(_wild(_plain_result(method, call.get("result"))), _shown(result))
    if lines:
        raise AssertionError(f"{method} came to something else than in {path}\n  " + "\n  ".join(lines))
    return result


def _plain_result(method: str, result: Any) -> Any:
    if method == "update" and isinstance(result, dict):
        return result.get("outs")
    if method == "diff" and isinstance(result, dict):
        return {"delete_before_replace" if key == "deleteBeforeReplace" else key: it for key, it in result.items()}
    if method == "check" and isinstance(result, dict):
        return {**result, "failures": [[it["property"], it["reason"]] for it in result.get("failures") or []]}
    return result


def _shown(result: Any) -> Any:
    return dataclasses.asdict(result) if dataclasses.is_dataclass(result) and not isinstance(result, type) else result


def _wild(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _wild(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_wild(item) for item in value]
    return ANY if isinstance(value, str) and value in _WILD else value
