# Packages and modules.


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

    _made_when_asked(
        scope, [name for known in table for name in ((known, f"{known}Dict") if dicts else (known,))], make
    )


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
