"""A program in the SDK alone, without maloko: baseline.py FOLDER mocks|null [THRESHOLDS].

`mocks` is what the SDK has for tests. `null` is the null engine: a monitor in this process that answers at once, and
the collector's thresholds of a run of maloko (three numbers with commas). What the mocks take depends on how quickly a
machine walks its memory, because with the usual thresholds the collector looks at all resources again and again.

The serialiser of providers is stubbed out in both: maloko does without it, and it would hide all else.
"""

from __future__ import annotations

import asyncio
import gc
import runpy
import sys
from typing import Any

import pulumi
import pulumi.dynamic.dynamic
from google.protobuf import empty_pb2
from pulumi.runtime import settings
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.stack import run_in_stack, run_pulumi_func


class EchoMocks(pulumi.runtime.Mocks):
    """Answers a registration with its inputs, as the program's provider does."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        return f"id-{args.name}", args.inputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        raise NotImplementedError(args.token)


class NullMonitor:
    """Stands for the client of the engine's monitor. It keeps nothing, so that what remains is the SDK.

    Its methods are those that the bench's programs need. For another one the SDK says which is missing.
    """

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 the service's name for it
        kind = request.type
        if request.parent:
            # As in the engine's URNs: the types of all parents, without the stack's.
            parent = request.parent.split("::", 3)[2]
            kind = kind if parent == "pulumi:pulumi:Stack" else f"{parent}${kind}"
        urn = f"urn:pulumi:dev::bench::{kind}::{request.name}"
        known = f"id-{request.name}" if request.custom else ""
        return resource_pb2.RegisterResourceResponse(urn=urn, id=known, object=request.object)

    def RegisterResourceOutputs(self, _request: Any) -> Any:  # noqa: N802
        return empty_pb2.Empty()

    def GetDeploymentInfo(self, _request: Any) -> Any:  # noqa: N802
        return resource_pb2.DeploymentInfo(supportedFeatures=resource_pb2.ResourceMonitorFeature.values())

    def SupportsFeature(self, _request: Any) -> Any:  # noqa: N802 SDKs before `GetDeploymentInfo` ask for each
        return resource_pb2.SupportsFeatureResponse(hasSupport=True)

    def Invoke(self, request: Any) -> Any:  # noqa: N802
        return resource_pb2.ResourceInvokeResponse(**{"return": request.args})

    def SignalAndWaitForShutdown(self, _request: Any) -> Any:  # noqa: N802
        return empty_pb2.Empty()


def main() -> None:
    folder, kind, *rest = sys.argv[1:]
    pulumi.dynamic.dynamic.serialize_provider = lambda provider: "provider"
    # The mocks build the stack's own resource, whose futures belong to the loop of the moment.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    def program() -> None:
        runpy.run_path(folder)

    if kind == "mocks":
        pulumi.runtime.set_mocks(EchoMocks())
        loop.run_until_complete(run_pulumi_func(program))
        return
    for thresholds in rest:
        gc.set_threshold(*map(int, thresholds.split(",")))
    # Any: the type of the argument is that of the real client.
    monitor: Any = NullMonitor()
    settings.configure(settings.Settings("bench", "dev", monitor, dry_run=False, organization="organization"))
    loop.run_until_complete(run_in_stack(program))


if __name__ == "__main__":
    main()
