"""A base class for providers whose inputs and outputs have declared types."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pulumi.dynamic import (
    CheckFailure,
    CheckResult,
    CreateResult,
    DiffResult,
    ReadResult,
    ResourceProvider,
    UpdateResult,
)

from maloko._errors import PartialFailure
from maloko._providers.conversion import ConversionError, is_model, to_bag, to_model

Inputs = TypeVar("Inputs")
Outputs = TypeVar("Outputs")

_ARGUMENTS = {
    "create": ("inputs",),
    "find": (None, "inputs"),
    "diff": (None, "outputs", "inputs"),
    "read": (None, "outputs"),
    "update": (None, "outputs", "inputs"),
    "delete": (None, "outputs"),
}
"""What each method is given: objects of these classes, `None` for the id."""


if TYPE_CHECKING:
    # Every method has other types than the SDK's, in each subclass too: a type checker is not to compare them.
    _Provider = Any
else:
    _Provider = ResourceProvider


class TypedProvider(_Provider, Generic[Inputs, Outputs]):  # type: ignore[misc]
    """A provider whose methods get and return objects of two classes: dataclasses or pydantic models.

    `class QueueProvider(TypedProvider[QueueInputs, QueueOutputs])`. Whole numbers arrive as `int` where a field is one.
    Inputs that do not fit are failures of `check`, each with its property. Stored outputs may lack fields that a newer
    version of the class has; these are `None`. In previews, fields of what `diff` gets may be unknown
    (`pulumi.contains_unknowns`).

    A method that is called with objects of the classes, as a test does, returns what it returns.
    """

    _models: tuple[Any, Any] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in getattr(cls, "__orig_bases__", ()):
            origin, arguments = typing.get_origin(base), typing.get_args(base)
            if isinstance(origin, type) and issubclass(origin, TypedProvider):
                models = tuple(argument for argument in arguments if not isinstance(argument, TypeVar))
                if len(models) == 2:
                    for model in models:
                        if not is_model(model):
                            raise TypeError(
                                f"{cls.__qualname__}: {model!r} is neither a dataclass nor a pydantic model"
                            )
                    cls._models = (models[0], models[1])
        for name in _ARGUMENTS:
            if name in vars(cls):
                setattr(cls, name, _converting(name, vars(cls)[name]))

    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
        """Refuses inputs that do not fit. A class that overrides this gets dicts, and should call it first."""
        try:
            to_model(_models_of(self)[0], news, "input")
        except ConversionError as error:
            return CheckResult(news, [CheckFailure(path, reason) for path, reason in error.problems])
        return CheckResult(news, [])

    if TYPE_CHECKING:

        def create(self, inputs: Inputs) -> CreateResult | typing.Awaitable[CreateResult]: ...

        def diff(self, id_: str, olds: Outputs, news: Inputs) -> DiffResult | typing.Awaitable[DiffResult]: ...

        def read(self, id_: str, props: Outputs) -> ReadResult | typing.Awaitable[ReadResult]: ...

        def find(self, key: str, inputs: Inputs) -> ReadResult | typing.Awaitable[ReadResult | None] | None: ...

        def update(self, id_: str, olds: Outputs, news: Inputs) -> UpdateResult | typing.Awaitable[UpdateResult]: ...

        def delete(self, id_: str, props: Outputs) -> typing.Awaitable[None] | None: ...


def _models_of(provider: TypedProvider[Any, Any]) -> tuple[Any, Any]:
    models = provider._models
    if models is None:
        name = type(provider).__name__
        raise TypeError(f"{name} does not say what its inputs and outputs are: class {name}(TypedProvider[In, Out])")
    return models


def _converting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method for property bags; called with anything else, it is the method itself."""

    def converted(provider: Any, arguments: tuple[Any, ...]) -> list[Any] | None:
        roles = _ARGUMENTS[name]
        if len(arguments) != len(roles) or not all(
            role is None or isinstance(argument, dict) for role, argument in zip(roles, arguments, strict=True)
        ):
            return None
        inputs, outputs = _models_of(provider)
        models = {"inputs": (inputs, "input", False), "outputs": (outputs, "output", True)}
        made = []
        for role, argument in zip(roles, arguments, strict=True):
            model, what, lenient = models[role] if role is not None else (None, "", False)
            made.append(argument if model is None else to_model(model, argument, what, lenient=lenient))
        return made

    if inspect.iscoroutinefunction(method):

        @functools.wraps(method)
        async def call_async(self: Any, *arguments: Any) -> Any:
            objects = converted(self, arguments)
            if objects is None:
                return await method(self, *arguments)
            try:
                return _plain_result(await method(self, *objects))
            except PartialFailure as failure:
                failure.outs = to_bag(failure.outs)
                raise

        return call_async

    @functools.wraps(method)
    def call(self: Any, *arguments: Any) -> Any:
        objects = converted(self, arguments)
        if objects is None:
            return method(self, *arguments)
        try:
            return _plain_result(method(self, *objects))
        except PartialFailure as failure:
            failure.outs = to_bag(failure.outs)
            raise

    return call


def _plain_result(result: Any) -> Any:
    for name in ("outs", "inputs"):
        if getattr(result, name, None) is not None:
            setattr(result, name, to_bag(getattr(result, name)))
    return result
