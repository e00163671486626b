"""Runs a program with two SDKs of one package, and compares what the engine is asked for and what the program gets.

    behaviour_python.py PROGRAM OFFICIAL OURS [--also FOLDER]... [--record FILE]

PROGRAM is a file with a function `program` that gives values by name. OFFICIAL and OURS are folders that hold the
package, or `-` for the one that is installed. `--also` are folders of other packages. The program runs with each SDK in
a process of its own, with the mocks of the Pulumi SDK in place of an engine. What came of the official one can be kept
in a file by `--record`, which then stands for it (FILE.json).
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

# Where a request comes from within an SDK, and what is left to chance.
LEFT_OUT = {"stackTrace", "requestId"}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("official")
    arguments.add_argument("ours")
    arguments.add_argument("--also", action="append", default=[])
    arguments.add_argument("--record", type=Path)
    given = arguments.parse_args()
    official, ours = (observed(given.program, folder, given.also) for folder in (given.official, given.ours))
    if given.record:
        given.record.write_text(json.dumps(official, indent=1, sort_keys=True) + "\n")
    faults = 0
    for part in ("requests", "values", "messages"):
        one, other = official[part], ours[part]
        for name in sorted({*one, *other}):
            if one.get(name) != other.get(name):
                faults += 1
                print(f"{part}, {name}:\n  official {one.get(name)}\n  ours     {other.get(name)}")
    asked, got = len(official["requests"]), len(official["values"])
    print(f"{Path(given.program).name}: {asked} requests, {got} values: {faults} different")
    return 1 if faults or not official["requests"] else 0


def observed(program, folder, also):
    if folder.endswith(".json"):
        return json.loads(Path(folder).read_text())
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
        f"import behaviour_python as b; b.observe({program!r}, {folder!r}, {also!r})"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program} with {folder}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def observe(program, folder, also):
    import importlib.util
    import warnings

    sys.path[:0] = [path for path in (folder, *also) if path != "-"]
    import pulumi
    from google.protobuf.json_format import MessageToDict
    from pulumi.runtime import mocks

    requests, messages = {}, {}

    def keep(kind, name, request):
        found = MessageToDict(request)
        place = found.pop("sourcePosition", None)
        if place is not None and place["uri"].endswith(Path(program).name):
            found["line"] = place["line"]
        for part in LEFT_OUT:
            found.pop(part, None)
        found["dependencies"] = sorted(found.get("dependencies", []))
        for property_, urns in found.get("propertyDependencies", {}).items():
            found["propertyDependencies"][property_] = sorted(urns.get("urns", []))
        text = json.dumps(found, sort_keys=True)
        # Several calls of one function come in any order.
        name = f"{kind} {name}" if kind in ("register", "read") else f"{kind} {name} {text}"
        requests[name] = [*requests.get(name, []), text]

    class Monitor(mocks.MockMonitor):
        def RegisterResource(self, request):
            keep("register", f"{request.type} {request.name}", request)
            # Inputs that refer to resources come back as they are: the mocks of the Pulumi SDK cannot read them.
            state = getattr(module, "OUTPUTS", {}).get(request.type, {})
            urn = self.make_urn(request.parent, request.type, request.name)
            if request.type != "pulumi:pulumi:Stack":
                self.resources[urn] = mocks.MockMonitor.ResourceRegistration(urn, f"{request.name}_id", state)
            mocks._ensure_event_loop()
            object_ = mocks._sync_await(mocks.rpc.serialize_properties(state, {}))
            for name, value in request.object.fields.items():
                if name not in state:
                    object_.fields[name].CopyFrom(value)
            return mocks.resource_pb2.RegisterResourceResponse(urn=urn, id=f"{request.name}_id", object=object_)

        def ReadResource(self, request):
            keep("read", f"{request.type} {request.name}", request)
            return super().ReadResource(request)

        def Invoke(self, request):
            keep("invoke", request.tok, request)
            return super().Invoke(request)

        def Call(self, request):
            keep("call", request.tok, request)
            # Its arguments name the resource itself, which must not be made once more.
            mocks._ensure_event_loop()
            found = getattr(module, "RESULTS", {}).get(request.tok, {})
            return mocks.provider_pb2.CallResponse(
                **{"return": mocks._sync_await(mocks.rpc.serialize_properties(found, {}))}
            )

        def RegisterPackage(self, request):
            keep("package", request.name, request)
            return mocks.resource_pb2.RegisterPackageResponse(ref="reference")

    spec = importlib.util.spec_from_file_location("program", program)
    module = importlib.util.module_from_spec(spec)

    class Mocks(pulumi.runtime.Mocks):
        def new_resource(self, args):
            return args.resource_id, {**args.inputs, **getattr(module, "OUTPUTS", {}).get(args.typ, {})}

        def call(self, args):
            return getattr(module, "RESULTS", {}).get(args.token, {})

    given = Mocks()
    pulumi.runtime.set_mocks(given, project="project", stack="stack", monitor=Monitor(given))
    pulumi.runtime.set_all_config(getattr(program, "CONFIG", {}) or {})

    def warn(message, *_, **__):
        messages[f"{len(messages)}"] = str(message)

    pulumi.log.warn = pulumi.warn = warn
    values = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spec.loader.exec_module(module)

        @mocks.test
        def run():
            found = module.program()

            def note(name, value, is_secret):
                values[name] = json.dumps([described(value), is_secret], sort_keys=True)

            async def read(name, output):
                note(name, await output.future(), await output.is_secret())
                return 1

            waiting = []
            for name, output in found.items():
                if isinstance(output, pulumi.Output):
                    waiting.append(pulumi.Output.from_input(read(name, output)))
                else:
                    note(name, output, False)
            return pulumi.Output.all(*waiting)

        run()
    # Official modules that are deprecated say so more often than once.
    said = {
        f"{warning.category.__name__}: {warning.message}"
        for warning in caught
        if warning.category in (DeprecationWarning, UserWarning)
    }
    said = {text for text in said if "event loop" not in text}
    print()
    print(json.dumps({"requests": requests, "values": values, "messages": {**messages, "warnings": sorted(said)}}))


def described(value):
    """A value with its types, as far as a program can see them."""
    import enum

    import pulumi
    from pulumi import _types

    kind = type(value)
    about = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, enum.Enum):
        return [about, value.name, value.value]
    if isinstance(value, pulumi.Resource):
        return [about, value._name]
    if isinstance(value, (pulumi.Asset, pulumi.Archive)):
        return [about, {name: described(part) for name, part in vars(value).items()}]
    if _types.is_output_type(kind):
        members = {name: described(_types.get(value, name)) for name, _, _ in _types._py_properties(kind)}
        keys = {name: described(part) for name, part in dict.items(value)} if isinstance(value, dict) else None
        return [about, members, keys]
    if isinstance(value, dict):
        return {str(name): described(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(part) for part in value]
    return [about, repr(value)] if not isinstance(value, (str, int, float, bool, type(None))) else [about, value]


if __name__ == "__main__":
    sys.exit(main())
