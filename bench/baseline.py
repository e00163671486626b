"""The SDK's own mocks run of the program in a folder, its serialiser stubbed out: baseline.py FOLDER [--preview]."""

import asyncio
import runpy
import sys
from typing import Any

import pulumi
import pulumi.dynamic.dynamic
from pulumi.runtime.stack import run_pulumi_func


class EchoMocks(pulumi.runtime.Mocks):
    """Answers a registration with its inputs, as the program's provider does."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        return f"id-{args.name}", args.inputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        raise NotImplementedError(args.token)


def main() -> None:
    folder = sys.argv[1]
    pulumi.dynamic.dynamic.serialize_provider = lambda provider: "provider"
    # The mocks build the stack's own resource, whose futures belong to the loop of the moment.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    pulumi.runtime.set_mocks(EchoMocks(), preview="--preview" in sys.argv)

    def program() -> None:
        runpy.run_path(folder)

    loop.run_until_complete(run_pulumi_func(program))


if __name__ == "__main__":
    main()
