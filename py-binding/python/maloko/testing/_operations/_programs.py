"""What a stack can be made of: a program function, a class of resources, a provider."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError
from maloko.testing._values import Secret

if TYPE_CHECKING:
    from maloko._run.program import Program


def program_of(what: Any, inputs: dict[str, Any], name: str) -> tuple[bool, Program]:
    """The program, and whether it makes the one resource of these inputs."""
    import pulumi
    from pulumi.dynamic import ResourceProvider

    if inspect.isclass(what) and issubclass(what, ResourceProvider):
        what = what()
    if isinstance(what, ResourceProvider):
        provider = what
        if type(provider).create is ResourceProvider.create:
            raise MalokoError(
                f"the provider {type(provider).__qualname__} has no `create`: without one nothing can be made. Define "
                "create(self, props), and let it return a CreateResult(id, outs)"
            )
        cls = resource_class_of(provider)

        def one_of_the_provider() -> None:
            cls(provider, name, _given(inputs))

        return True, one_of_the_provider
    if inspect.isclass(what) and issubclass(what, pulumi.Resource):

        def one_of_the_class() -> None:
            what(name, **_given(inputs))

        return True, one_of_the_class
    if callable(what) and not inspect.isclass(what):
        wanted = [
            parameter.name
            for parameter in inspect.signature(what).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        if wanted:
            raise MalokoError(
                f"the program {getattr(what, '__name__', what)!r} wants the argument '{wanted[0]}'; a program is "
                "called without any: use a lambda or functools.partial to give it what it needs"
            )
        return False, what
    raise MalokoError(
        f"a stack is made of a program function, a class of resources, or a provider; {what!r} is none of these"
        + (": a provider derives from pulumi.dynamic.ResourceProvider" if inspect.isclass(what) else "")
    )


def resource_class_of(provider: Any) -> Any:
    """A class of resources for a provider, called as the provider's class is."""
    from pulumi.dynamic import Resource

    kind = type(provider)
    return type(kind.__name__.removesuffix("Provider") or kind.__name__, (Resource,), {"__module__": kind.__module__})


def _given(inputs: dict[str, Any]) -> dict[str, Any]:
    """The inputs as a program gives them; `Secret` stands for secret ones."""
    import pulumi

    return {key: pulumi.Output.secret(it.value) if isinstance(it, Secret) else it for key, it in inputs.items()}
