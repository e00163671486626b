"""Starts programs for the real `pulumi`: a language host over the official protocol, whose own ones are no Go modules.

    hosts.py python|nodejs ENGINE

The programs run with the official SDKs, by the entry points that the real hosts use. Nothing is installed or looked up.
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import grpc
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

SHOWN = 32  # how both SDKs end a program whose error is shown already


def command_of(language, request, engine):
    """The command line of a run, as the SDK's entry point takes it."""
    entry = request.info.entry_point or "."
    options = {
        "monitor": request.monitor_address,
        "engine": engine,
        "project": request.project,
        "stack": request.stack,
        "pwd": request.info.program_directory or request.pwd,
        "parallel": str(request.parallel),
        "organization": request.organization,
    }
    dry = "true" if request.dryRun else "false"
    if language == "python":
        helper = Path(os.environ["PULUMI_HOSTS"]) / "pulumi-language-python-exec"
        options |= {"dry_run": dry, "root_directory": request.info.root_directory}
        virtual = dict(request.info.options.items()).get("virtualenv")
        python = str(Path(request.info.root_directory) / virtual / "bin/python") if virtual else "python3"
        words = [python, "-u", str(helper)]
    else:
        options |= {"root-directory": request.info.root_directory}
        find = "console.log(require.resolve('@pulumi/pulumi/cmd/run'))"
        where = request.info.root_directory
        script = subprocess.run(["node", "-e", find], cwd=where, text=True, capture_output=True, check=True).stdout
        words = ["node", "--enable-source-maps", script.strip()]
        words += ["--dry-run"] if request.dryRun else []
    words += [word for name, value in options.items() for word in (f"--{name}", value) if value]
    return [*words, entry, *request.args]


class Host(language_pb2_grpc.LanguageRuntimeServicer):
    def __init__(self, language, engine):
        self.language, self.engine = language, engine

    def GetPluginInfo(self, request, context):  # noqa: N802 (the protocol's name)
        return plugin_pb2.PluginInfo(version="1.0.0")

    def GeneratePackage(self, request, context):  # noqa: N802
        with tempfile.NamedTemporaryFile("w", suffix=".json") as schema:
            schema.write(request.schema)
            schema.flush()
            generator = str(Path(os.environ["PULUMI_HOSTS"]) / "codegen")
            done = subprocess.run(
                [generator, self.language, schema.name, request.directory], text=True, capture_output=True
            )
        if done.returncode:
            context.abort(grpc.StatusCode.UNKNOWN, done.stderr)
        return language_pb2.GeneratePackageResponse()

    def GetRequiredPlugins(self, request, context):  # noqa: N802
        return language_pb2.GetRequiredPluginsResponse()

    def GetRequiredPackages(self, request, context):  # noqa: N802
        return language_pb2.GetRequiredPackagesResponse()

    def Run(self, request, context):  # noqa: N802
        env = {
            **os.environ,
            "PULUMI_CONFIG": json.dumps(dict(request.config)),
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
            "PULUMI_NODEJS_TYPESCRIPT": "true",
            "PULUMI_NODEJS_PROJECT": request.project,
            "PULUMI_NODEJS_STACK": request.stack,
            "PULUMI_NODEJS_DRY_RUN": "true" if request.dryRun else "false",
            "PULUMI_NODEJS_PARALLEL": str(request.parallel),
        }
        code = subprocess.run(command_of(self.language, request, self.engine), env=env).returncode
        if code == SHOWN:
            return language_pb2.RunResponse(bail=True)
        return language_pb2.RunResponse(error=f"the program ended with code {code}" if code else "")


def main():
    server = grpc.server(ThreadPoolExecutor(16), options=[("grpc.max_receive_message_length", 400 * 1024 * 1024)])
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(Host(sys.argv[1], sys.argv[-1]), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    with suppress(KeyboardInterrupt):  # so `pulumi` ends it
        server.wait_for_termination()


if __name__ == "__main__":
    main()
