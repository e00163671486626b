"""Keeps what is known to be secret out of the files that tests keep.

A provider may well put a secret into a property that nobody marked as one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from maloko.testing._values import HIDDEN, SECRET_KIND, SIGNATURE

_LEAST = 4
"""A shorter text would hide half of everything."""
_HARMLESS = frozenset({"true", "false", "null", "none", "True", "False", "None", HIDDEN})
"""Values of secrets now and then, and no secrets as words."""


def secret_texts(state: Any) -> Iterator[str]:
    """The texts inside the secrets of an exported state. What stands for provider objects is left out: a file of a
    test's does not have it."""
    if isinstance(state, dict):
        if state.get(SIGNATURE) == SECRET_KIND:
            yield from _texts(json.loads(state.get("plaintext", "null")))
            return
        for key, item in state.items():
            if key != "__provider":
                yield from secret_texts(item)
    elif isinstance(state, list):
        for item in state:
            yield from secret_texts(item)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


class Scrubber:
    """Puts `hidden` in the place of secrets in texts; also as they look in JSON, in an address, and in base64."""

    def __init__(self, secrets: Iterable[str], hidden: str = HIDDEN) -> None:
        known = {text for text in secrets if len(text) >= _LEAST and text not in _HARMLESS}
        forms = {form for text in known for form in _forms(text)}
        # The longest first, so that a secret that holds another one is hidden whole.
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._hidden = hidden

    def values(self, value: Any) -> Any:
        """Values without the secrets in their texts, at any depth. What is marked as secret stays as it is."""
        if isinstance(value, str):
            for form in self._forms:
                value = value.replace(form, self._hidden)
            return value
        if isinstance(value, dict):
            if value.get(SIGNATURE) == SECRET_KIND:
                return value
            return {key: self.values(item) for key, item in value.items()}
        return [self.values(item) for item in value] if isinstance(value, list) else value

    def state(self, state: Any) -> Any:
        """An exported state without the secrets in what programs and providers gave. Names and ids stay: rows refer to
        each other by them."""
        if isinstance(state, dict):
            given = ("inputs", "outputs", "initErrors")
            return {key: self.values(item) if key in given else self.state(item) for key, item in state.items()}
        return [self.state(item) for item in state] if isinstance(state, list) else state


def _forms(text: str) -> set[str]:
    encoded = text.encode("utf-8", "surrogatepass")
    return {
        text,
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        quote(encoded, safe=""),
        base64.b64encode(encoded).decode().rstrip("="),
        base64.urlsafe_b64encode(encoded).decode().rstrip("="),
    }
