"""The SDK's own serialiser of providers: it runs for `stack export --for-pulumi` and for nothing else."""

from __future__ import annotations

from typing import Any

import pulumi
import pulumi.dynamic.dynamic

from maloko._sdk.version import lacks


def serialized(provider: Any) -> tuple[str, bool]:
    """What the SDK's own serialiser makes of a provider, and whether the SDK would make it a secret."""
    try:
        from pulumi.runtime._serialization import _serialize
    except ImportError as error:
        raise lacks(f"a private name ({error})") from None
    replaced = pulumi.dynamic.dynamic.serialize_provider
    original: Any = getattr(replaced, "__wrapped__", replaced)
    text, captures_secrets = _serialize(True, original, provider)
    return text, captures_secrets or _is_always_secret(provider)


def _is_always_secret(provider: Any) -> bool:
    """The provider's own word on it. The SDK's default is yes; while a run goes on, its base class says no."""
    name = "serialize_as_secret_always"
    if name in getattr(provider, "__dict__", {}):
        return bool(getattr(provider, name))
    for kind in type(provider).__mro__:
        if kind is not pulumi.dynamic.ResourceProvider and name in kind.__dict__:
            return bool(getattr(provider, name))
    return True
