"""The configuration of a stack."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any


class Settings(MutableMapping[str, Any]):
    """Configuration by key. Values that are no text are written as JSON, as the command line would."""

    def __init__(self, values: Mapping[str, Any] | None, secrets: Mapping[str, Any] | None) -> None:
        self._values: dict[str, Any] = dict(values or {})
        self._secrets: set[str] = set()
        for key, value in (secrets or {}).items():
            self.set_secret(key, value)

    def set_secret(self, key: str, value: Any) -> None:
        """Sets a value that is secret."""
        self._values[key] = value
        self._secrets.add(key)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._values[key] = value

    def __delitem__(self, key: str) -> None:
        del self._values[key]
        self._secrets.discard(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def secret_texts(self) -> list[str]:
        """The values that are secret, as the program gets them."""
        return [text_of(self._values[key]) for key in self._secrets]

    def order(self) -> dict[str, dict[str, Any]]:
        """As an order has it."""
        return {key: {"value": text_of(value), "secret": key in self._secrets} for key, value in self._values.items()}


def text_of(value: Any) -> str:
    """A value as programs and providers get it."""
    return value if isinstance(value, str) else json.dumps(value)
