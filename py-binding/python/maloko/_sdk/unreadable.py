"""Secrets of other stacks that cannot be decrypted: a program that asks for one is stopped, whatever it does with it.

A text of the engine's stands for each (`engine-core/src/builtin/unreadable.rs`), and the engine refuses requests that
carry one. A program may use it without sending it: so what a stack reference gives is looked through before the program
sees it, and the engine is shown the text that is found. The engine alone decides whether the run may go on.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pulumi

_BEGINNING = "[maloko cannot decrypt the output '"
_OUTPUTS = "outputs"


def places() -> list[tuple[Any, str, Callable[[Any], Any]]]:
    """The places of the SDK: owner, name, and what makes the replacement."""
    return [
        (pulumi.StackReference, "get_output", _of_output),
        (pulumi.StackReference, "require_output", _of_output),
        (pulumi.StackReference, "get_output_details", _of_details),
    ]


@contextlib.contextmanager
def outputs_looked_through() -> Iterator[None]:
    """Has `StackReference.outputs` looked through, too. An SDK that has such a property itself is left alone."""
    if _OUTPUTS in vars(pulumi.StackReference):
        yield
        return
    setattr(pulumi.StackReference, _OUTPUTS, property(_outputs))
    try:
        yield
    finally:
        delattr(pulumi.StackReference, _OUTPUTS)


def _of_output(original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def looked_through(self: Any, name: Any) -> Any:
        return _ReferenceOutput(self, original(self, name))

    return looked_through


def _of_details(original: Callable[[Any, str], Awaitable[Any]]) -> Callable[[Any, str], Awaitable[Any]]:
    async def looked_through(self: Any, name: str) -> Any:
        details = await original(self, name)
        text = _hidden_in([details.value, details.secret_value])
        if text is not None:
            await _show(self, text)
        return details

    return looked_through


def _outputs(reference: Any) -> Any:
    output = vars(reference)[_OUTPUTS]
    # Its own methods ask for one of them, and are looked through themselves.
    if sys._getframe(1).f_globals.get("__name__") == pulumi.StackReference.__module__:
        return output
    return _ReferenceOutput(reference, output)


class _ReferenceOutput(pulumi.Output[Any]):
    """An output of a stack reference. A member that is asked for by its name is looked through by itself."""

    def __init__(self, reference: Any, output: Any) -> None:
        vars(self).update(vars(output), _maloko_reference=reference, _maloko_output=output)

    def apply(self, func: Callable[[Any], Any], run_with_unknowns: bool = False) -> pulumi.Output[Any]:
        """As the SDK's, for a run that may go on with all that the output holds."""
        readable: pulumi.Output[Any] = self._readable()
        return readable.apply(func, run_with_unknowns)

    def __getitem__(self, key: Any) -> pulumi.Output[Any]:
        """As the SDK's."""
        return _ReferenceOutput(self._maloko_reference, self._maloko_output[key])

    async def future(self, with_unknowns: bool | None = None) -> Any:
        """As the SDK's. What asks for unknowns, too, sends the value to the engine."""
        return await (self._maloko_output if with_unknowns else self._readable()).future(with_unknowns)

    def _readable(self) -> Any:
        def look(value: Any) -> Any:
            text = _hidden_in(value)
            return value if text is None else shown(value, text)

        async def shown(value: Any, text: str) -> Any:
            await _show(self._maloko_reference, text)
            return value

        return self._maloko_output.apply(look)


async def _show(reference: Any, text: str) -> None:
    """Asks the engine for what it has read already, with the text: a run that may not go on is ended by it."""
    await pulumi.runtime.invoke_async("pulumi:pulumi:readStackOutputs", {"name": reference.name, "without": text})


def _hidden_in(value: Any) -> str | None:
    if isinstance(value, str):
        return value if value.startswith(_BEGINNING) else None
    # In their order: of several, each run names the same one.
    items = (
        [value[key] for key in sorted(value)] if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    return next((text for item in items if (text := _hidden_in(item)) is not None), None)
