"""Property bags as objects of a declared class, and back: dataclasses, and pydantic models where pydantic is there."""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any

import pulumi


class ConversionError(Exception):
    """Values do not fit their declared types; `problems` has the property and the reason of each."""

    def __init__(self, what: str, problems: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{what} property '{path}' {reason}" for path, reason in problems))
        self.problems = problems


def is_model(kind: Any) -> bool:
    """Can objects of the class stand for property bags?"""
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or _is_pydantic(kind))


def _is_pydantic(kind: Any) -> bool:
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(kind, type) and issubclass(kind, pydantic.BaseModel)


def to_model(kind: Any, bag: Mapping[str, Any], what: str, *, lenient: bool = False) -> Any:
    """The object of a property bag. Raises `ConversionError`, which names every property that does not fit.

    :param what: what the bag is, for messages: `input`, `output`.
    :param lenient: whether members may be missing (`None` then) or unknown, as in the outputs of an earlier version.
    """
    problems: list[tuple[str, str]] = []
    members = {key: value for key, value in bag.items() if not key.startswith("__")}
    made = _model(kind, members, "", problems, lenient)
    if problems:
        raise ConversionError(what, problems)
    return made


def to_bag(value: Any) -> Any:
    """Plain data for what models hold."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_bag(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if _is_pydantic(type(value)):
        return to_bag(value.model_dump())
    if type(value) is dict:
        return {key: to_bag(member) for key, member in value.items()}
    if type(value) in (list, tuple):
        return [to_bag(member) for member in value]
    return value.value if isinstance(value, enum.Enum) else value


def _model(kind: Any, bag: Mapping[str, Any], path: str, problems: list[tuple[str, str]], lenient: bool) -> Any:
    unknown = any(pulumi.contains_unknowns(value) for value in bag.values())
    if _is_pydantic(kind):
        return _pydantic(kind, bag, path, problems, lenient or unknown)
    hints = typing.get_type_hints(kind)
    values = {}
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        place = f"{path}.{field.name}" if path else field.name
        if bag.get(field.name) is not None:
            values[field.name] = _value(hints[field.name], bag[field.name], place, problems, lenient)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            if not lenient and not _allows_none(hints[field.name]):
                problems.append((place, "is missing"))
            values[field.name] = None
    if not lenient:
        known = {field.name for field in dataclasses.fields(kind)}
        problems += [
            (f"{path}.{key}" if path else key, f"is unknown: {kind.__qualname__} has no such field")
            for key, value in bag.items()
            if key not in known and value is not None
        ]
    return None if problems else kind(**values)


def _pydantic(kind: Any, bag: Mapping[str, Any], path: str, problems: list[tuple[str, str]], lenient: bool) -> Any:
    pydantic: Any = sys.modules["pydantic"]
    try:
        return kind.model_validate({key: value for key, value in bag.items() if value is not None})
    except pydantic.ValidationError as error:
        if lenient:
            return kind.model_construct(**_fields_that_fit(kind, bag))
        for problem in error.errors():
            place = ".".join(str(part) for part in ((path,) if path else ()) + tuple(problem["loc"]))
            problems.append((place, f"does not fit: {problem['msg']}"))
        return None


def _fields_that_fit(kind: Any, bag: Mapping[str, Any]) -> dict[str, Any]:
    """Each field by itself: what is missing is its default or `None`, and what does not fit stays as it is."""
    fields = {}
    for name, field in kind.model_fields.items():
        value = bag.get(name, bag.get(field.alias or name))
        if value is None:
            fields[name] = None if field.is_required() else field.get_default(call_default_factory=True)
        else:
            fields[name] = _fitted(field.annotation, value)
    return fields


def _fitted(hint: Any, value: Any) -> Any:
    """The value as the type asks for it, or as it is."""
    pydantic: Any = sys.modules["pydantic"]
    if not pulumi.contains_unknowns(value):
        try:
            return pydantic.TypeAdapter(hint).validate_python(value)
        except pydantic.ValidationError:
            pass
    problems: list[tuple[str, str]] = []
    fitted = _value(hint, value, "", problems, lenient=True)
    return value if problems else fitted


def _value(hint: Any, value: Any, path: str, problems: list[tuple[str, str]], lenient: bool) -> Any:
    if isinstance(value, pulumi.output.Unknown) or hint is Any or isinstance(hint, typing.TypeVar):
        return value
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _value(arguments[0], value, path, problems, lenient)
    if origin in (typing.Union, types.UnionType):
        return _one_of(arguments, value, path, problems, lenient)
    if origin is typing.Literal:
        fits = next((choice for choice in arguments if choice == value and type(choice) is not bool), None)
        if fits is None and value not in arguments:
            problems.append((path, f"is another value; it must be one of {', '.join(map(repr, arguments))}"))
        return value if fits is None else fits
    if origin in (list, tuple) or hint in (list, tuple):
        return _items(hint, origin or hint, arguments, value, path, problems, lenient)
    if origin is dict or hint is dict:
        if not isinstance(value, Mapping):
            return _refuse(hint, value, path, problems)
        member = arguments[1] if len(arguments) == 2 else Any
        return {key: _value(member, item, f"{path}.{key}", problems, lenient) for key, item in value.items()}
    if is_model(hint):
        if not isinstance(value, Mapping):
            return _refuse(hint, value, path, problems)
        return _model(hint, value, path, problems, lenient)
    return _plain(hint, value, path, problems)


def _plain(hint: Any, value: Any, path: str, problems: list[tuple[str, str]]) -> Any:
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        try:
            return hint(value)
        except ValueError:
            choices = ", ".join(repr(member.value) for member in hint)
            problems.append((path, f"is another value; it must be one of {choices}"))
            return None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int and number and float(value).is_integer():
        return int(value)
    if hint is float and number:
        return float(value)
    if hint in (int, float) or not isinstance(value, hint if isinstance(hint, type) else object):
        return _refuse(hint, value, path, problems)
    return value


def _one_of(hints: tuple[Any, ...], value: Any, path: str, problems: list[tuple[str, str]], lenient: bool) -> Any:
    if value is None and type(None) in hints:
        return None
    choices = [hint for hint in hints if hint is not type(None)]
    for hint in choices:
        tried: list[tuple[str, str]] = []
        made = _value(hint, value, path, tried, lenient)
        if not tried:
            return made
    if len(choices) == 1:
        return _value(choices[0], value, path, problems, lenient)
    problems.append((path, f"is {_named(value)}; it must be {' or '.join(map(_wanted, choices))}"))
    return None


def _items(
    hint: Any, kind: Any, hints: tuple[Any, ...], value: Any, path: str, problems: list[tuple[str, str]], lenient: bool
) -> Any:
    if not isinstance(value, (list, tuple)):
        return _refuse(hint, value, path, problems)
    if kind is tuple and hints and hints[-1] is not Ellipsis:
        if len(hints) != len(value):
            problems.append((path, f"has {len(value)} items; it must have {len(hints)}"))
            return None
        each = list(hints)
    else:
        each = [hints[0] if hints else Any] * len(value)
    pairs = zip(each, value, strict=True)
    return kind(_value(one, item, f"{path}[{n}]", problems, lenient) for n, (one, item) in enumerate(pairs))


def _allows_none(hint: Any) -> bool:
    return hint is Any or type(None) in typing.get_args(hint)


def _refuse(hint: Any, value: Any, path: str, problems: list[tuple[str, str]]) -> None:
    problems.append((path, f"is {_named(value)}; it must be {_wanted(hint)}"))


_WANTED = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a dict",
}


def _wanted(hint: Any) -> str:
    kind = typing.get_origin(hint) or hint
    return _WANTED.get(kind) or f"of type {getattr(kind, '__qualname__', kind)}"


def _named(value: Any) -> str:
    # Not the value itself: it may be a secret.
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, float) and not value.is_integer():
        return "a number with a fraction"
    names = {str: "a text", int: "a number", float: "a number", list: "a list", dict: "a dict", type(None): "nothing"}
    return names.get(type(value)) or f"of type {type(value).__qualname__}"
