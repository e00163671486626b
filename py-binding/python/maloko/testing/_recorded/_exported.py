"""Inputs of resources that really exist, for laws and lifecycles of their provider."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from maloko.testing._judgement import ask


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
    meant = None if names is None else list(names)
    found: list[dict[str, Any]] = ask("exported_inputs", file=os.fspath(file), ofType=of_type, names=meant)
    return found
