# What the modules of this package share. They say what there is, in short tables; the classes and functions are made
# here, when a program asks for them. Types and texts for people are in the `.pyi` files.

import importlib
import os
import sys
import types
import typing
import warnings
from enum import Enum

import pulumi
import pulumi.runtime

_ROOT = __name__.rpartition(".")[0]


def get_version():
    return _VERSION


def get_plugin_download_url():
    return _PLUGIN_URL


def get_resource_opts_defaults():
    return pulumi.ResourceOptions(version=_VERSION, plugin_download_url=_PLUGIN_URL)


def get_invoke_opts_defaults():
    return pulumi.InvokeOptions(version=_VERSION, plugin_download_url=_PLUGIN_URL)


def get_env(*names):
    return next((value for name in names if (value := os.getenv(name)) is not None), None)


def get_env_bool(*names):
    value = get_env(*names)
    if value in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    return False if value in ("0", "f", "F", "false", "FALSE", "False") else None


def _get_env_as(kind, names):
    value = get_env(*names)
    try:
        return None if value is None else kind(value)
    except ValueError:
        return None


def get_env_int(*names):
    return _get_env_as(int, names)


def get_env_float(*names):
    return _get_env_as(float, names)


class Env:
    """A default that is looked up in the environment each time."""

    __slots__ = ("read", "names", "otherwise")

    def __init__(self, read, names, otherwise=None):
        self.read, self.names, self.otherwise = read, names, otherwise

    def __call__(self):
        return self.read(*self.names) or self.otherwise


def _default(defaults, name):
    found = defaults.get(name)
    return found() if type(found) is Env else found


# Types are texts until somebody asks for them.


class _Names(dict):
    """What the text of a type can name: other packages are imported when they are first named."""

    def __missing__(self, name):
        return importlib.import_module(name)


def foreign(package, module, *names):
    """A type of another package, which another generator may have made: the first name that it has.

    It may have none: then anything goes.
    """
    try:
        root = importlib.import_module(package)
    except ImportError:
        return typing.Any
    for name in names:
        found = root
        for part in filter(None, [*module.split("."), *name.split(".")]):
            found = getattr(found, part, None)
        if found is not None:
            return found
    return typing.Any


_NAMES = _Names(
    Any=typing.Any,
    Literal=typing.Literal,
    Mapping=typing.Mapping,
    Sequence=typing.Sequence,
    Union=typing.Union,
    bool=bool,
    float=float,
    foreign=foreign,
    int=int,
    pulumi=pulumi,
    str=str,
)
_KNOWN = {}


def _kind(text):
    found = _KNOWN.get(text)
    if found is None:
        _NAMES["_"] = sys.modules[_ROOT]
        found = _KNOWN[text] = eval(text, {}, _NAMES)
    return found


class _Getter:
    """Reads a property from its object's `__dict__`."""

    def __init__(self, name, wire, text):
        self.__name__ = self.__qualname__ = name
        self._pulumi_name = wire
        self._text = text

    def __call__(self, owner):
        return owner.__dict__.get(self.__name__)

    @property
    def __annotations__(self):
        return {"return": _kind(self._text)}


class _ItemGetter(_Getter):
    """Reads a property of an object that is a dictionary."""

    def __call__(self, owner):
        return dict.get(owner, self.__name__)


class _DeprecatedGetter(_Getter):
    """Says first what to use in its place. The Pulumi SDK itself reads past it, by `_pulumi_deprecated_callable`."""

    def __init__(self, getter, message):
        super().__init__(getter.__name__, getter._pulumi_name, getter._text)
        self._pulumi_deprecated_callable = getter
        self._message = message

    def __call__(self, owner):
        warnings.warn(self._message)
        pulumi.warn(f"{self.__name__} is deprecated: {self._message}")
        return self._pulumi_deprecated_callable(owner)


def _setter(name):
    def set_property(owner, value):
        owner.__dict__[name] = value

    return set_property


def _wire(name, names):
    """`some_name` is `someName` on the wire, where `names` does not say otherwise."""
    found = names.get(name)
    if found is None:
        first, *others = name.split("_")
        found = first + "".join([part[:1].upper() + part[1:] for part in others]) if others else first
    return found


def _add_properties(cls, kinds, names, deprecated, getter=_Getter, writable=False):
    for name, text in kinds.items():
        get = getter(name, _wire(name, names), text)
        if name in deprecated:
            get = _DeprecatedGetter(get, deprecated[name])
        setattr(cls, name, property(get, _setter(name) if writable else None))


_NOTHING: dict = {}


class _Shape:
    """The properties of a class: name to type, first those that have to be given."""

    __slots__ = ("required", "kinds", "defaults", "constants", "deprecated", "is_bare")

    def __init__(self, required, optional, defaults, constants, deprecated):
        self.required = required
        self.kinds = {**required, **optional}
        self.defaults, self.constants, self.deprecated = defaults, constants, deprecated
        self.is_bare = not (defaults or constants or deprecated)

    def fill(self, store, given, cls, warn):
        kinds = self.kinds
        for name in given:
            if name not in kinds:
                raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument '{name}'")
        missing = [name for name in self.required if name not in given and name not in self.defaults]
        if missing:
            names = ", ".join(map(repr, missing))
            raise TypeError(
                f"{cls.__name__}.__init__() missing {len(missing)} required keyword-only arguments: {names}"
            )
        if self.is_bare:
            required = self.required
            for name, value in given.items():
                if value is not None or name in required:
                    store[name] = value
            return
        for name in kinds:
            value = given.get(name)
            if warn and value is not None and name in self.deprecated:
                message = self.deprecated[name]
                warnings.warn(message, DeprecationWarning)
                pulumi.log.warn(f"{name} is deprecated: {message}")
            if value is None and name in self.defaults:
                value = _default(self.defaults, name)
            if value is not None:
                store[name] = self.constants.get(name, value)
            elif name in self.required:
                store[name] = self.constants.get(name)


class Args:
    """Inputs: `XArgs`."""

    _pulumi_input_type = True
    _shape: _Shape

    def __init_subclass__(
        cls,
        required=None,
        optional=_NOTHING,
        names=_NOTHING,
        defaults=_NOTHING,
        constants=_NOTHING,
        deprecated=_NOTHING,
        **rest,
    ):
        super().__init_subclass__(**rest)
        if required is not None:
            cls._shape = _Shape(required, optional, defaults, constants, deprecated)
            _add_properties(cls, cls._shape.kinds, names, deprecated, writable=True)

    def __init__(__self__, **given):
        cls = type(__self__)
        cls._shape.fill(__self__.__dict__, given, cls, True)

    def __eq__(self, other):
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = object.__hash__


class Output(dict):
    """What is nested in outputs: a dictionary by snake_case names, with a property for each."""

    _pulumi_output_type = True
    _shape: _Shape

    def __init_subclass__(
        cls,
        required=None,
        optional=_NOTHING,
        names=_NOTHING,
        defaults=_NOTHING,
        constants=_NOTHING,
        deprecated=_NOTHING,
        **rest,
    ):
        super().__init_subclass__(**rest)
        if required is not None:
            cls._shape = _Shape(required, optional, defaults, constants, deprecated)
            _add_properties(cls, cls._shape.kinds, names, deprecated, getter=_ItemGetter)

    def __init__(__self__, **given):
        cls = type(__self__)
        cls._shape.fill(__self__, given, cls, False)

    def __eq__(self, other):
        return type(other) is type(self) and dict.__eq__(other, self)

    __hash__ = None


class Result:
    """What a function gives."""

    _pulumi_output_type = True
    _names: tuple = ()

    def __init_subclass__(cls, fields=None, names=_NOTHING, deprecated=_NOTHING, **rest):
        super().__init_subclass__(**rest)
        if fields is not None:
            cls._names = tuple(fields)
            _add_properties(cls, fields, names, deprecated)

    def __init__(__self__, *values, **given):
        cls = type(__self__)
        given = _bind(f"{cls.__name__}.__init__", cls._names, values, given)
        store = __self__.__dict__
        for name in cls._names:
            store[name] = given.get(name)

    def __eq__(self, other):
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = object.__hash__


def awaitable(base):
    """The result of a function, which can also be awaited."""

    def __await__(self):
        if False:
            yield self
        return base(**self.__dict__)

    return type(f"Awaitable{base.__name__}", (base,), {"__module__": base.__module__, "__await__": __await__})


def _bind(what, names, values, given):
    """Arguments by name, as a function with these parameters has them."""
    if len(values) > len(names):
        raise TypeError(f"{what}() takes {len(names)} positional arguments but {len(values)} were given")
    for name, value in zip(names, values):
        if name in given:
            raise TypeError(f"{what}() got multiple values for argument '{name}'")
        given[name] = value
    for name in given:
        if name not in names:
            raise TypeError(f"{what}() got an unexpected keyword argument '{name}'")
    return given
