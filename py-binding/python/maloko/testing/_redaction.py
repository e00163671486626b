"""Keeps what is known to be secret out of the files that tests keep: the engine's redactor looks for it.

A provider may well put a secret into a property that nobody marked as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from maloko.testing._judgement import ask
from maloko.testing._values import HIDDEN, SECRET_KIND, SIGNATURE


def secret_texts(state: Any) -> list[str]:
    """The texts inside the secrets of an exported state. What stands for provider objects is left out: a file of a
    test's does not have it."""
    texts: list[str] = ask("secret_texts", state=state)
    return texts


class Redactor:
    """Puts `hidden` in the place of secrets in texts; also as they look in JSON, in an address, and in base64."""

    def __init__(self, secrets: Iterable[str], hidden: str = HIDDEN) -> None:
        self._secrets = [(_whole(text), hidden) for text in dict.fromkeys(secrets)]

    def texts(self, texts: list[str]) -> list[str]:
        """Texts without the secrets, in their order."""
        whole = [_whole(text) for text in texts]
        clean: list[str] = ask("redact", secrets=self._secrets, texts=whole)
        return [text if old == new else new for text, old, new in zip(texts, whole, clean, strict=True)]

    def values(self, value: Any) -> Any:
        """Values without the secrets in their texts, at any depth. What is marked as secret stays as it is."""
        known: dict[str, str] = {}
        _map_texts(value, lambda text: known.setdefault(text, text))
        changed = dict(zip(known, self.texts(list(known)), strict=True))
        return _map_texts(value, lambda text: changed[text])


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        if value.get(SIGNATURE) == SECRET_KIND:
            return value
        return {key: _map_texts(item, change) for key, item in value.items()}
    return [_map_texts(item, change) for item in value] if isinstance(value, list) else value


def _whole(text: str) -> str:
    """Half of a surrogate pair has no place in UTF-8, which the engine's texts are in."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
