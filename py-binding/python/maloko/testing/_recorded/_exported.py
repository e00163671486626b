"""Inputs of resources that really exist, for laws and lifecycles of their provider."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from maloko._errors import MalokoError
from maloko.testing._values import HIDDEN, SECRET_KIND, SIGNATURE


def exported_inputs(
    file: str | os.PathLike[str], *, of_type: str | None = None, names: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """The inputs of the custom resources of an exported stack (`maloko stack export --file`, `pulumi stack export`),
    each once: for `inputs=` of `ProviderLaws` and `lifecycle_machine`. A secret becomes the text `[secret]`, so nothing
    has to be decrypted.

    :param file: the export.
    :param of_type: only those of this type, such as `pulumi-python:dynamic/shop:Bucket`.
    :param names: only those with these names.

    Raises `MalokoError` where the file is no export, has no such resource, or an input is an asset or archive.
    """
    path = Path(file)
    try:
        resources = json.loads(path.read_text(encoding="utf-8"))["deployment"]["resources"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MalokoError(
            f"{path} cannot be read as an exported stack ({error}); write one with `maloko stack export --file {path}`"
        ) from error
    found: list[dict[str, Any]] = []
    for resource in resources or ():
        name = str(resource.get("urn", "")).rpartition("::")[2]
        if not resource.get("custom") or str(resource.get("type", "")).startswith("pulumi:providers:"):
            continue
        if (of_type is not None and resource["type"] != of_type) or (names is not None and name not in names):
            continue
        inputs = {
            key: _plain(value, f"{name}.{key}")
            for key, value in (resource.get("inputs") or {}).items()
            if not key.startswith("__")
        }
        if inputs not in found:
            found.append(inputs)
    if not found:
        typed = f" of type {of_type}" if of_type is not None else ""
        named = f" named {' or '.join(names)}" if names is not None else ""
        raise MalokoError(f"{path} has no custom resource{typed}{named}")
    return found


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, list):
        return [_plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if value.get(SIGNATURE) == SECRET_KIND:
        return HIDDEN
    if SIGNATURE in value:
        raise MalokoError(
            f"{where} is an asset, an archive or a reference, of which an export has no content; leave its "
            "resource out with of_type= or names="
        )
    return {key: _plain(item, f"{where}.{key}") for key, item in value.items()}
