# What the modules of this package share. They say what there is, in short tables; the classes and functions are made here, when a program asks for
# them. Types and texts for people are in the `.pyi` files.

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


# --- Types: texts until somebody asks -------------------------------------------------------------------------------------------------------------


class _Names(dict):
    """What the text of a type can name: other packages are imported when they are first named."""

    def __missing__(self, name):
        return importlib.import_module(name)


def foreign(package, module, *names):
    """A type of another package, which may have been made by another generator: the first name that it has. It may have none: then anything goes."""
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

    __slots__ = ("required", "kinds", "defaults", "constants", "deprecated")

    def __init__(self, required, optional, defaults, constants, deprecated):
        self.required = required
        self.kinds = {**required, **optional}
        self.defaults, self.constants, self.deprecated = defaults, constants, deprecated

    def fill(self, store, given, cls, warn):
        kinds = self.kinds
        for name in given:
            if name not in kinds:
                raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument '{name}'")
        missing = [name for name in self.required if name not in given and name not in self.defaults]
        if missing:
            names = ", ".join(map(repr, missing))
            raise TypeError(f"{cls.__name__}.__init__() missing {len(missing)} required keyword-only arguments: {names}")
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
        cls, required=None, optional=_NOTHING, names=_NOTHING, defaults=_NOTHING, constants=_NOTHING, deprecated=_NOTHING, **rest
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
        cls, required=None, optional=_NOTHING, names=_NOTHING, defaults=_NOTHING, constants=_NOTHING, deprecated=_NOTHING, **rest
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


# --- Resources ------------------------------------------------------------------------------------------------------------------------------------


class _Facts:
    """What a class of resources knows of itself."""

    __slots__ = (
        "owner", "token", "args", "outputs", "names", "state", "secrets", "secret_inputs", "json", "aliases", "replace", "renamed", "deprecation",
        "inputs", "parameters", "lookup",
    )  # fmt: skip

    def __init__(self, owner, token, args, **facts):
        self.owner, self.token, self.args = owner, token, args
        for name, fact in facts.items():
            setattr(self, name, fact)
        # In the order of the wire, as positional arguments come.
        self.inputs = sorted(args._shape.kinds, key=lambda name: _wire(name, self.names))
        self.parameters = ("opts", *(self.renamed.get(name, name) for name in self.inputs), "__props__")
        self.lookup = None

    def state_class(self):
        """What `get` looks up by: made when it is first called."""
        if self.state is None:
            return self.args
        if self.lookup is None:
            spec = {"required": _NOTHING, "optional": self.state, "names": self.names}
            self.lookup = type(f"_{self.owner.__name__}State", (Args,), {"__module__": self.owner.__module__}, **spec)
        return self.lookup


class _Resource:
    _facts: _Facts
    _token = None
    _more: dict = {}

    def __init_subclass__(
        cls, token=None, args=None, outputs=_NOTHING, names=_NOTHING, deprecated=_NOTHING, state=None, secrets=(), secret_inputs=(), json=(),
        aliases=(), replace=(), renamed=_NOTHING, deprecation=None, **rest
    ):  # fmt: skip
        super().__init_subclass__(**rest)
        if token is None:
            return
        cls.pulumi_type = token
        cls._facts = _Facts(
            cls, token, args, outputs=outputs, names=names, state=state, secrets=secrets, secret_inputs=secret_inputs, json=json, aliases=aliases,
            replace=replace, renamed=renamed, deprecation=deprecation,
        )  # fmt: skip
        written = {name for name in outputs if name in cls.__dict__}
        _add_properties(cls, {name: text for name, text in outputs.items() if name not in written}, names, deprecated)
        if deprecation:
            warnings.warn(deprecation, DeprecationWarning, stacklevel=2)

    def __init__(__self__, resource_name, *args, **kwargs):
        facts = type(__self__)._facts
        given, opts = None, kwargs.get("opts")
        if args and isinstance(args[0], facts.args):
            given, args = args[0], args[1:]
            if args and isinstance(args[0], pulumi.ResourceOptions):
                opts = args[0]
        elif isinstance(kwargs.get("args"), facts.args):
            given = kwargs["args"]
            if args and isinstance(args[0], pulumi.ResourceOptions):
                opts = args[0]
        if given is None:
            __self__._internal_init(resource_name, *args, **kwargs)
        else:
            renamed = facts.renamed
            __self__._internal_init(resource_name, opts, **{renamed.get(name, name): value for name, value in given.__dict__.items()})

    def _internal_init(__self__, resource_name, *args, **kwargs):
        facts = type(__self__)._facts
        given = _bind(f"{facts.owner.__name__}._internal_init", facts.parameters, args, kwargs)
        if facts.deprecation:
            pulumi.log.warn(f"{facts.owner.__name__} is deprecated: {facts.deprecation}")
        opts = pulumi.ResourceOptions.merge(get_resource_opts_defaults(), given.get("opts"))
        if not isinstance(opts, pulumi.ResourceOptions):
            raise TypeError("Expected resource options to be a ResourceOptions instance")
        props = given.get("__props__")
        if __self__._more and opts.id is not None:
            raise ValueError("ComponentResource classes do not support opts.id")
        if opts.id is None:
            if props is not None:
                raise TypeError("__props__ is only valid when passed in combination with a valid opts.id to get an existing resource")
            props = _inputs_of(facts, given, opts)
        for extra in ("aliases", "secrets", "replace"):
            found = getattr(facts, extra)
            if found:
                opts = pulumi.ResourceOptions.merge(opts, _EXTRA[extra](found))
        # The Pulumi SDK counts the calls from here to the program, for the place of a resource in the program's text: no call may come in between.
        super().__init__(__self__._token or facts.token, resource_name, props, opts, **__self__._more, **_package())


_EXTRA = {
    "aliases": lambda found: pulumi.ResourceOptions(aliases=[pulumi.Alias(type_=kind) for kind in found]),
    "secrets": lambda found: pulumi.ResourceOptions(additional_secret_outputs=list(found)),
    "replace": lambda found: pulumi.ResourceOptions(replace_on_changes=list(found)),
}


def _inputs_of(facts, given, opts):
    """An object of the class of inputs, so that the Pulumi SDK translates its names by that class."""
    shape = facts.args._shape
    props = facts.args.__new__(facts.args)
    store = props.__dict__
    for name in facts.inputs:
        parameter = facts.renamed.get(name, name)
        value = given.get(parameter)
        if value is None and name in shape.defaults:
            value = _default(shape.defaults, name)
        if value is None and name in shape.required and not opts.urn:
            raise TypeError(f"Missing required property '{parameter}'")
        value = shape.constants.get(name, value)
        if value is not None:
            # A provider is configured by texts: everything else is written as JSON.
            as_json = name in facts.json
            if name in facts.secret_inputs:
                value = pulumi.Output.secret(value)
            elif as_json:
                value = pulumi.Output.from_input(value)
            if as_json:
                value = value.apply(pulumi.runtime.to_json)
        store[name] = value
    for name in facts.outputs:
        store.setdefault(name, None)
    return props


class Custom(_Resource, pulumi.CustomResource):
    """A resource that the plugin makes."""

    @classmethod
    def get(cls, resource_name, id, *args, **kwargs):
        facts = cls._facts
        state = facts.state or ()
        renamed = facts.renamed
        parameters = ("opts", *(renamed.get(name, name) for name in state))
        given = _bind(f"{facts.owner.__name__}.get", parameters, args, kwargs)
        opts = pulumi.ResourceOptions.merge(given.get("opts"), pulumi.ResourceOptions(id=id))
        kind = facts.state_class()
        props = kind.__new__(kind)
        for name in state:
            props.__dict__[name] = given.get(renamed.get(name, name))
        for name in facts.outputs:
            props.__dict__.setdefault(name, None)
        return facts.owner(resource_name, opts=opts, __props__=props)


    @classmethod
    def exists(cls, id, *args, **kwargs):
        """Whether there is such a resource. Only newer SDKs of Pulumi can ask."""
        facts = cls._facts
        state = facts.state or ()
        renamed = facts.renamed
        given = _bind(f"{facts.owner.__name__}.exists", ("opts", *(renamed.get(name, name) for name in state)), args, kwargs)
        props = {_wire(name, facts.names): given.get(renamed.get(name, name)) for name in state}
        opts = given.get("opts") or pulumi.ResourceOptions()
        return pulumi.runtime.exists_resource(None, facts.token, id, props, opts, **_package())


class Component(_Resource, pulumi.ComponentResource):
    """A component that the plugin makes."""

    _more = {"remote": True}


class Provider(_Resource, pulumi.ProviderResource):
    """An explicit provider of this package."""

    _token = _NAME


# --- Functions and methods ------------------------------------------------------------------------------------------------------------------------


def _package():
    return {} if _PARAMETER is None else {"package_ref": get_package()}


def _single(value):
    return next(iter(value.values())) if isinstance(value, dict) else value


def _copy(kind, value):
    """The same, past getters that would warn."""
    return kind(**{name: pulumi.get(value, name) for name in kind._names})


def function(module, name, token, inputs, result=None, single=False, defaults=_NOTHING, names=_NOTHING, deprecation=None, output=False):
    """`name`, or with `output` the form that takes and gives outputs. `result`: the class of what it gives, `single`: one value by itself."""
    parameters = (*inputs, "opts")
    given_name = f"{name}_output" if output and (result or single) else name
    options = getattr(pulumi, "InvokeOutputOptions", pulumi.InvokeOptions) if output else pulumi.InvokeOptions
    call = pulumi.runtime.invoke_output if output else pulumi.runtime.invoke
    gives = result.__mro__[1] if result is not None and output else result

    def invoke(*args, **kwargs):
        given = _bind(given_name, parameters, args, kwargs)
        if deprecation:
            pulumi.log.warn(f"{name} is deprecated: {deprecation}")
        wire = {}
        for parameter in inputs:
            value = given.get(parameter)
            if value is None and parameter in defaults:
                value = _default(defaults, parameter)
            wire[_wire(parameter, names)] = value
        opts = options.merge(get_invoke_opts_defaults(), given.get("opts"))
        typ = None if result is None else result.__mro__[1]
        found = call(token, wire, opts=opts, typ=typ, **_package())
        read = _single if gives is None else lambda value: _copy(gives, value)
        if result is None and not single:
            return None
        return found.apply(read) if output else read(found.value)

    invoke.__name__ = invoke.__qualname__ = given_name
    invoke.__module__ = module
    invoke._parameters = parameters
    return invoke


def call(owner, token, args, result=None):
    """A method of a resource."""
    args["__self__"] = owner
    return pulumi.runtime.call(token, args, res=owner, typ=result, **_package())


def call_plain(tok, props, res=None, typ=None):
    """A method that gives its value at once."""
    import asyncio

    from pulumi.runtime.sync_await import _sync_await

    output = pulumi.runtime.call(tok, props, res, typ, **_package())

    async def value():
        return await output._future, await output._is_known, await output._is_secret

    result, known, secret = _sync_await(asyncio.ensure_future(value()))
    problem = "an unknown value" if not known else "a secret value" if secret else None
    if problem:
        raise AssertionError(f"Plain resource method '{tok}' incorrectly returned {problem}. Please report this to the developer of the provider.")
    return result


def call_at_once(owner, token, args, result):
    """A method of a resource that gives its value at once."""
    args["__self__"] = owner
    return call_plain(token, args, owner, result)


async def get_package():
    """What the engine knows this package by: it is made of another plugin by a parameter."""
    plugin, version, value, extension = _PARAMETER
    register = getattr(pulumi.runtime, "register_package", None)
    if register is not None:
        more = {"extension": True} if extension else {}
        return await register(
            base_provider_name=plugin, base_provider_version=version, base_provider_download_url=_PLUGIN_URL or "", package_name=_NAME,
            package_version=_VERSION or "", base64_parameter=value, **more,
        )  # fmt: skip
    return await _registered(plugin, version, value, extension)


_REFERENCES: dict = {}


async def _registered(plugin, version, value, extension):
    """As `pulumi.runtime.register_package` does it: older SDKs have no such function."""
    import base64

    from pulumi.runtime import settings
    from pulumi.runtime.proto import resource_pb2

    monitor = settings.get_monitor()
    if monitor not in _REFERENCES:
        part = resource_pb2.Parameterization(name=_NAME, version=_VERSION or "", value=base64.b64decode(value))
        role = "extension" if extension else "parameterization"
        request = resource_pb2.RegisterPackageRequest(name=plugin, version=version, download_url=_PLUGIN_URL or "", **{role: part})
        _REFERENCES[monitor] = monitor.RegisterPackage(request).ref
    if not _REFERENCES[monitor]:
        raise Exception("The engine does not support packages with parameters. Please update it.")
    return _REFERENCES[monitor]


# --- Modules --------------------------------------------------------------------------------------------------------------------------------------


class _Package(types.ModuleType):
    """A package that imports a module of its own when something of it is first asked for."""

    def __getattr__(self, name):
        if name == "__all__":
            found = [name for name in dir(self) if not name.startswith("_")]
        else:
            found = self._find(name)
        self.__dict__[name] = found
        return found

    def _find(self, name):
        module = self._names.get(name)
        if module is not None:
            return getattr(importlib.import_module(f"{self.__name__}.{module}"), name)
        if name in self._modules:
            return importlib.import_module(f"{self.__name__}.{name}")
        # Types for inputs are many: their file alone lists them.
        if "_inputs" in self._modules and not name.startswith("_"):
            inputs = importlib.import_module(f"{self.__name__}._inputs")
            if name in inputs.__all__:
                return getattr(inputs, name)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __setattr__(self, name, value):
        # An import puts the module into its package. Where a function is named as its module, the function is meant.
        if name in self._names and isinstance(value, types.ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self):
        inputs = importlib.import_module(f"{self.__name__}._inputs").__all__ if "_inputs" in self._modules else ()
        return sorted({*self.__dict__, *self._names, *self._modules, *inputs} - {"_names", "_modules"})


def package(name, modules, packages=()):
    """`modules`: what of each module is a member of the package, by the module's name. `packages`: those below."""
    module = sys.modules[name]
    names = {}
    for file, members in modules.items():
        for member in members.split():
            names[member] = file
    module.__dict__["_names"] = names
    module.__dict__["_modules"] = {*modules, *packages}
    module.__class__ = _Package


def _made_when_asked(scope, names, make):
    def __getattr__(name):
        if name in names:
            return scope.setdefault(name, make(name))
        raise AttributeError(f"module '{scope['__name__']}' has no attribute '{name}'")

    scope["__all__"] = list(names)
    scope["__getattr__"] = __getattr__
    scope["__dir__"] = lambda: sorted({*scope, *names})


def _make(scope, base, table):
    def make(name):
        required, optional, *rest = table[name]
        spec = {"required": required, "optional": optional, **(rest[0] if rest else _NOTHING)}
        return type(name, (base,), {"__module__": scope["__name__"]}, **spec)

    return make


def inputs(scope, table, dicts=True):
    """Classes of inputs, and with `dicts` dictionaries with the same members."""
    make_class = _make(scope, Args, table)
    with_dicts = {f"{name}Dict": name for name in table} if dicts else {}

    def make(name):
        if name in table:
            return make_class(name)
        required, optional, *_ = table[with_dicts[name]]
        found = typing.TypedDict(name, {member: typing.Any for member in (*required, *optional)}, total=False)
        found.__module__ = scope["__name__"]
        return found

    _made_when_asked(scope, [name for known in table for name in ((known, f"{known}Dict") if dicts else (known,))], make)


def outputs(scope, table):
    """Classes of what is nested in outputs."""
    _made_when_asked(scope, list(table), _make(scope, Output, table))


def enums(scope, table):
    """Enumerations: token, type of the values, members."""

    def make(name):
        token, kind, members = table[name]
        if kind is bool:
            # Nothing can be both a truth value and a member.
            return type(name, (), {"__module__": scope["__name__"], "pulumi_type": token, **members})
        made = Enum(name, members, module=scope["__name__"], qualname=name, type=kind)
        made.pulumi_type = token
        return made

    _made_when_asked(scope, list(table), make)


def config(bag, variables):
    """The class of the module `config`: each variable is read when it is asked for."""

    def reader(read, name, default):
        get = getattr(bag, read)
        return property(lambda self: get(name) or (default() if type(default) is Env else default))

    members = {python: reader(*spec) for python, spec in variables.items()}
    return type("_ExportableConfig", (types.ModuleType,), members)


class _ResourceModule(pulumi.runtime.ResourceModule):
    def __init__(self, place):
        self.place = place

    def version(self):
        return _parsed_version()

    def construct(self, name, typ, urn):
        found = getattr(importlib.import_module(_ROOT + self.place), _class_name(typ.split(":")[-1]), None)
        if found is None:
            raise Exception(f"unknown resource type {typ}")
        return found(name, pulumi.ResourceOptions(urn=urn))


class _ResourcePackage(pulumi.runtime.ResourcePackage):
    def version(self):
        return _parsed_version()

    def construct_provider(self, name, typ, urn):
        if typ != f"pulumi:providers:{_NAME}":
            raise Exception(f"unknown provider type {typ}")
        return sys.modules[_ROOT].Provider(name, pulumi.ResourceOptions(urn=urn))


def _class_name(name):
    first, *others = name.split("-")
    name = first + "".join([part[:1].upper() + part[1:] for part in others])
    return name[:1].upper() + name[1:]


def _parsed_version():
    if _VERSION is None:
        return None
    from semver import VersionInfo

    return VersionInfo.parse(_VERSION)


def register(modules, provider=True):
    """Tells the Pulumi SDK where the classes are, so that references to resources become objects."""
    for module, place in modules.items():
        pulumi.runtime.register_resource_module(_NAME, module, _ResourceModule(place))
    if provider:
        pulumi.runtime.register_resource_package(_NAME, _ResourcePackage())
