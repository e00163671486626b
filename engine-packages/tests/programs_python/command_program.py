import pulumi
import pulumi_command as command
from pulumi_command import local
from pulumi_command.local import run

RESULTS = {
    "command:local:run": {
        "command": "echo",
        "stdout": "out",
        "stderr": "",
        "assets": {"a": pulumi.StringAsset("a")},
        "archive": pulumi.FileArchive("x"),
    }
}
OUTPUTS = {"command:local:Command": {"stdout": "out", "stderr": ""}}


def program() -> dict[str, object]:
    provider = command.Provider("provider")
    first = command.local.Command(
        "first",
        create="echo a",
        environment={"SOME_NAME": "x", "other": "y"},
        interpreter=["/bin/sh", "-c"],
        triggers=[1, "two", {"three_four": 3}, pulumi.FileAsset("file")],
        opts=pulumi.ResourceOptions(provider=provider, delete_before_replace=True),
    )
    second = local.Command(
        "second", local.CommandArgs(create=first.stdout, dir="/tmp", add_previous_output_in_env=False)
    )
    found = run(command="echo", environment={"some_key": "v"})
    later = local.run_output(command=first.stdout)
    return {
        "stdout": first.stdout,
        "environment": first.environment,
        "triggers": first.triggers,
        "second": second.create,
        "found": found.stdout,
        "later": later.stdout,
        "run": found,
    }
