"""What a former release of a provider left in a state: as resources, or as a stack that was exported then."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maloko._errors import MalokoError


def baseline_of(given: Any, beside: str, kind: str = "") -> list[dict[str, Any]]:
    """The resources of a baseline: `id`, `inputs`, `outputs`. Raises `MalokoError` for one that has none.

    :param kind: the type token of those that count; without it, all of dynamic providers do.
    """
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
        resources = given.get("resources") or []
        given = [
            resource for resource in resources if resource.get("custom") and _counts(str(resource.get("type")), kind)
        ]
    found = [
        {
            "id": str(resource["id"]),
            "inputs": _shown(resource.get("inputs") or {}),
            "outputs": _shown(resource.get("outputs") or {}),
        }
        for resource in given
        if isinstance(resource, Mapping) and resource.get("id")
    ]
    if not found:
        raise MalokoError(
            f"{where} has no resource of {kind or 'a dynamic provider'}: give an exported deployment, or a list of "
            "{'id': ..., 'inputs': {...}, 'outputs': {...}}"
        )
    return found


def _counts(found: str, kind: str) -> bool:
    return found == kind if kind else ":dynamic" in found


def _shown(bag: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in bag.items() if not key.startswith("__")}
