# Resources, functions and methods.


class _Facts:
    """What a class of resources knows of itself."""

    state = deprecation = lookup = None
    secrets = secret_inputs = json = aliases = replace = ()
    outputs = names = renamed = deprecated = _NOTHING

    def __init__(self, owner, given):
        self.owner = owner
        self.__dict__.update(given)
        # In the order of the wire, as positional arguments come.
        self.inputs = sorted(self.args._shape.kinds, key=lambda name: _wire(name, self.names))
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

    def __init_subclass__(cls, token=None, **facts):
        if token is None:
            return super().__init_subclass__(**facts)
        cls.pulumi_type = token
        cls._facts = facts = _Facts(cls, {"token": token, **facts})
        # What the class says itself is not hidden by a property: a method.
        kinds = {name: text for name, text in facts.outputs.items() if name not in cls.__dict__}
        _add_properties(cls, kinds, facts.names, facts.deprecated)
        if facts.deprecation:
            warnings.warn(facts.deprecation, DeprecationWarning, stacklevel=2)
        return None

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
            __self__._internal_init(
                resource_name, opts, **{renamed.get(name, name): value for name, value in given.__dict__.items()}
            )

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
                raise TypeError("__props__ is only valid together with opts.id, to get an existing resource")
            props = _inputs_of(facts, given, opts)
        for extra in ("aliases", "secrets", "replace"):
            found = getattr(facts, extra)
            if found:
                opts = pulumi.ResourceOptions.merge(opts, _EXTRA[extra](found))
        # The Pulumi SDK counts the calls from here to the program, to tell where in the program a resource is made: no
        # call may come in between.
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
        given = _bind(
            f"{facts.owner.__name__}.exists", ("opts", *(renamed.get(name, name) for name in state)), args, kwargs
        )
        props = {_wire(name, facts.names): given.get(renamed.get(name, name)) for name in state}
        opts = given.get("opts") or pulumi.ResourceOptions()
        return pulumi.runtime.exists_resource(None, facts.token, id, props, opts, **_package())


class Component(_Resource, pulumi.ComponentResource):
    """A component that the plugin makes."""

    _more = {"remote": True}


class Provider(_Resource, pulumi.ProviderResource):
    """An explicit provider of this package."""

    _token = _NAME


def _package():
    return {} if _PARAMETER is None else {"package_ref": get_package()}


def _single(value):
    return next(iter(value.values())) if isinstance(value, dict) else value


def _copy(kind, value):
    """The same, past getters that would warn."""
    return kind(**{name: pulumi.get(value, name) for name in kind._names})


def function(
    module,
    name,
    token,
    inputs,
    result=None,
    single=False,
    defaults=_NOTHING,
    names=_NOTHING,
    deprecation=None,
    output=False,
):
    """`name`, or with `output` the form that takes and gives outputs.

    `result` is the class of what it gives; `single`: one value by itself.
    """
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
        raise AssertionError(
            f"Plain resource method '{tok}' incorrectly returned {problem}. Please tell the provider's developer."
        )
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
            base_provider_name=plugin,
            base_provider_version=version,
            base_provider_download_url=_PLUGIN_URL or "",
            package_name=_NAME,
            package_version=_VERSION or "",
            base64_parameter=value,
            **more,
        )
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
        request = resource_pb2.RegisterPackageRequest(
            name=plugin, version=version, download_url=_PLUGIN_URL or "", **{role: part}
        )
        _REFERENCES[monitor] = monitor.RegisterPackage(request).ref
    if not _REFERENCES[monitor]:
        raise Exception("The engine does not support packages with parameters. Please update it.")
    return _REFERENCES[monitor]
