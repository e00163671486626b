"""What the engine's kit decides for both languages: the meaning of assertions, the forms of files, and their words."""

from __future__ import annotations

from json import dumps, loads  # bound before a provider can replace the module's own
from typing import Any

from maloko._errors import MalokoError
from maloko._maloko import kit_answer


def ask(question: str, **members: Any) -> Any:
    """The answer to a question; `engine-kit/src/judgement.rs` has them all. Raises `MalokoError` for one that is
    refused."""
    answer = loads(kit_answer(dumps({"ask": question, **members})))
    if isinstance(answer, dict) and answer.keys() == {"error"}:
        raise MalokoError(answer["error"])
    return answer
