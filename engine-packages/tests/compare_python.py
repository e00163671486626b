"""Compares two SDKs of one package, name by name: the official one, and the one made here.

    compare_python.py PACKAGE OFFICIAL OURS [--without MODULE]... [--record FILE]

OFFICIAL and OURS are folders that hold PACKAGE (`pulumi_random`), or `-` for the one that is installed. Both are
imported by the interpreter that runs this script, in processes of their own. What there is in the official one can be
kept in a file by `--record`, which then stands for it (FILE.json). What the official one has and ours has not
is a fault: the exit status is 1. `--without` leaves a module or a name out, with all below it; `@FILE` reads arguments
from a file, one a line.
"""

import argparse
import json
import subprocess
import sys
import types
import typing
from collections.abc import Awaitable
from enum import Enum
from pathlib import Path

# Whose names generated modules import for themselves.
HELPERS = {
    "abc",
    "asyncio",
    "builtins",
    "collections",
    "copy",
    "enum",
    "functools",
    "json",
    "os",
    "pulumi",
    "re",
    "sys",
    "tempfile",
    "types",
    "typing",
    "typing_extensions",
    "warnings",
}


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, fromfile_prefix_chars="@"
    )
    arguments.add_argument("package")
    arguments.add_argument("official")
    arguments.add_argument("ours")
    arguments.add_argument("--without", action="append", default=[])
    arguments.add_argument("--record", type=Path)
    given = arguments.parse_args()
    official, ours = described(given.package, given.official), described(given.package, given.ours)
    left_out = {*given.without}
    if given.record:
        given.record.write_text(json.dumps(official, indent=1, sort_keys=True) + "\n")

    def is_left_out(name):
        parts = name.split(".")
        return any(".".join(parts[:end]) in left_out for end in range(1, len(parts) + 1))

    names = 0
    missing, additional, different = [], [], []
    for module, members in official.items():
        if is_left_out(module):
            continue
        found = ours.get(module)
        if found is None:
            missing.append(f"{module} (the module)")
            continue
        names += len(members)
        for name, member in members.items():
            if is_left_out(f"{module}.{name}"):
                continue
            if name not in found:
                missing.append(f"{module}.{name}")
            else:
                for part in sorted({*member, *found[name]}):
                    one, other = member.get(part), found[name].get(part)
                    if not is_as_good(part, one, other):
                        different.append(f"{module}.{name}, {part}:\n    official {one}\n    ours     {other}")
        additional += [f"{module}.{name}" for name in found if name not in members]
    additional += [f"{module} (the module)" for module in ours if module not in official]
    for title, found in (("missing", missing), ("different", different), ("additional", additional)):
        if found:
            print(f"{title} ({len(found)}):")
            print("".join(f"  {line}\n" for line in found), end="")
    found = f"{len(missing)} missing, {len(different)} different, {len(additional)} additional"
    print(f"{given.package}: {len(official)} modules, {names} names: {found}")
    return 1 if missing or different else 0


def is_as_good(part, official, ours):
    """Whether ours is the same, or what official generators of late make of it."""
    if part == "exists":
        return ours or not official
    if part != "types" or not isinstance(official, dict) or not isinstance(ours, dict) or [*official] != [*ours]:
        return official == ours
    constant = {"str": "Literal('", "int": "Literal(", "bool": "Literal("}
    return all(
        kind == ours[name] or ours[name].startswith(constant.get(kind.removeprefix("builtins."), "never"))
        for name, kind in official.items()
    )


def described(package, folder):
    if folder.endswith(".json"):
        return json.loads(Path(folder).read_text())
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
        f"import compare_python as c; c.describe({package!r}, {folder!r})"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{package} in {folder}: {done.stderr}")
    return json.loads(done.stdout)


def describe(package, folder):
    """Prints all modules with their public names, and what a program can see of each."""
    import importlib

    if folder != "-":
        sys.path.insert(0, folder)
    root = importlib.import_module(package)
    place = Path(root.__file__).parent
    found = {}
    # Packages come before what is in them: some official modules can be imported in this order only.
    for path in sorted(place.rglob("*.py"), key=lambda path: (path.parent, path.name != "__init__.py", path)):
        parts = path.relative_to(place).with_suffix("").parts
        if "_utilities" in parts or "_tables" in parts:
            continue
        name = ".".join((package, *(part for part in parts if part != "__init__")))
        module = importlib.import_module(name)
        # The official packages load a package when something of it is asked for, and `dir` does not count.
        getattr(module, "anything", None)
        is_package = parts[-1] == "__init__"
        members = {member: getattr(module, member) for member in public(module, is_package)}
        found[name] = {member: described_member(value) for member, value in members.items() if not is_helper(value)}
    json.dump(found, sys.stdout)


def public(module, is_package):
    names = dir(module) if is_package else getattr(module, "__all__", [])
    return sorted(name for name in names if not name.startswith("_"))


def is_helper(value):
    module = (
        value.__name__
        if isinstance(value, types.ModuleType)
        else getattr(value, "__module__", None) or type(value).__module__
    )
    return module.split(".")[0] in HELPERS


def described_member(member):
    """What a program can see: kinds, names and types."""
    from pulumi import _types

    if isinstance(member, types.ModuleType):
        return {"kind": f"module {member.__name__}"}
    if not isinstance(member, type):
        return (
            {"kind": "function", "parameters": parameters(member)}
            if callable(member)
            else {"kind": type(member).__name__}
        )
    about = {
        "kind": "class",
        "token": getattr(member, "pulumi_type", None),
        "module": member.__module__,
        "name": member.__qualname__,
    }
    if issubclass(member, Enum):
        return {
            **about,
            "members": {name: repr(value.value) for name, value in member.__members__.items()},
            "bases": [base.__name__ for base in member.__mro__[1:-1]],
        }
    if _types.is_input_type(member):
        names, kinds = _types.input_type_py_to_pulumi_names(member), _types.input_type_types(member)
        return {**about, "kind": "input", "names": names, "types": shown(kinds)}
    if _types.is_output_type(member):
        names = {python: wire for python, wire, _ in _types._py_properties(member)}
        kind = "output" if issubclass(member, dict) else "result"
        return {**about, "kind": kind, "names": names, "types": shown(_types.output_type_types(member), found=True)}
    import pulumi

    if issubclass(member, pulumi.Resource):
        return {**about, **described_resource(member)}
    if typing.is_typeddict(member):
        return {**about, "kind": "dictionary", "names": sorted(member.__annotations__)}
    return about


def described_resource(member):
    import pulumi
    from pulumi import _types

    bases = (pulumi.ProviderResource, pulumi.CustomResource, pulumi.ComponentResource)
    base = next(base for base in bases if issubclass(member, base))
    own = {
        name: value
        for name, value in vars(member).items()
        if not name.startswith("_") and not isinstance(value, property)
    }
    methods = {name: parameters(value) for name, value in own.items() if isinstance(value, types.FunctionType)}
    nested = {name: described_member(value) for name, value in own.items() if isinstance(value, type)}
    facts = getattr(member, "_facts", None)
    internal = list(facts.parameters) if facts else parameters(getattr(member, "_internal_init", member.__init__))[2:]
    get = getattr(member, "get", None)
    if facts and isinstance(get, types.MethodType):
        get = ["resource_name", "id", "opts", *(facts.renamed.get(name, name) for name in facts.state or ())]
    elif isinstance(get, types.FunctionType):
        get = parameters(get)
        methods.pop("get", None)
    else:
        get = None
    return {
        "kind": base.__name__,
        "names": _types.resource_py_to_pulumi_names(member),
        "types": shown(_types.resource_types(member), found=True),
        "init": internal,
        "get": get,
        "exists": hasattr(member, "exists"),
        "methods": methods,
        "nested": nested,
    }


def parameters(function):
    import inspect

    return list(getattr(function, "_parameters", None) or inspect.signature(function).parameters)


def shown(kinds, found=False):
    return {name: show(kind, found) for name, kind in sorted(kinds.items())}


def show(kind, found):
    """A type without the wrappers that the Pulumi SDK takes off by itself. `found`: it is the type of an output."""
    import pulumi
    from pulumi import _types

    kind = _types.unwrap_type(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return f"Literal{arguments}"
    if origin is None:
        return f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else str(kind)
    if origin is typing.Union:
        arguments = [
            argument
            for argument in arguments
            if typing.get_origin(argument) not in (pulumi.Output, Awaitable) and argument is not type(None)
        ]
        parts = list(dict.fromkeys(show(argument, found) for argument in arguments))
        if len(parts) == 1:
            return parts[0]
        # Official SDKs of late keep unions in outputs, for a Pulumi SDK that can tell their members apart. Others can
        # do nothing with them.
        is_asset = parts and all(part.startswith("pulumi.asset.") for part in parts)
        return "typing.Any" if found and not is_asset else f"Union{sorted(parts)}"
    return f"{getattr(origin, '__name__', origin)}[{', '.join(show(argument, found) for argument in arguments)}]"


if __name__ == "__main__":
    sys.exit(main())
