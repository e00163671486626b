"""Policy packs of both languages, made with the official packages."""

from pathlib import Path

from cli import Project

NODE_MODULES = Path(__file__).parents[2] / "node-tests" / "node_modules"

PYTHON_PACK = """
from pulumi_policy import *

def short(args, report):
    if args.resource_type.endswith("Thing") and len(args.props["text"]) > args.get_config()["max"]:
        report("text is long: " + args.props["text"])

def stack(args, report):
    report(f"{len(args.resources)} resources", next(it.urn for it in args.resources if it.name == "b"))

def fix(args):
    if args.resource_type.endswith("Thing") and args.props["text"] == "fixme":
        return {**args.props, "text": "ok"}

PolicyPack("pack-py", enforcement_level=EnforcementLevel.ADVISORY, policies=[
    ResourceValidationPolicy("short", "text is short", short, severity=Severity.HIGH,
        config_schema=PolicyConfigSchema(properties={"max": {"type": "integer", "default": 4}})),
    StackValidationPolicy("count", "counts", stack),
    ResourceValidationPolicy("fix", "fixes text", remediate=fix, enforcement_level=EnforcementLevel.REMEDIATE),
])
"""

NODE_PACK = """
const { PolicyPack } = require("@pulumi/policy");
new PolicyPack("pack-js", { policies: [
    { name: "no-hello", description: "no hello", enforcementLevel: "mandatory", validateResource: (args, report) => {
        if (args.type.endsWith("Thing") && args.props.text === "forbidden") report("hello is forbidden");
    } },
    { name: "stack", description: "stack policy", enforcementLevel: "advisory", validateStack: (args, report) => {
        report(args.resources.map((it) => it.name).sort().join(","));
    } },
] });
"""


def python_pack(project: Project, name: str, code: str = PYTHON_PACK, manifest: str = "") -> str:
    """A pack in Python, in a folder of the project; the folder's name."""
    project.write(f"{name}/PulumiPolicy.yaml", manifest or "runtime: python\nversion: 0.9.9\n")
    project.write(f"{name}/__main__.py", code)
    return name


def node_pack(project: Project, name: str, code: str = NODE_PACK) -> str:
    """A pack in JavaScript, in a folder of the project; the folder's name."""
    project.write(f"{name}/PulumiPolicy.yaml", "runtime: nodejs\n")
    project.write(f"{name}/package.json", '{"name": "pack-js", "version": "0.0.7", "main": "index.js"}')
    project.write(f"{name}/index.js", code)
    (project.directory / name / "node_modules").symlink_to(NODE_MODULES)
    return name
