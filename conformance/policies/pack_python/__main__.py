"""A policy for each row of the table; each says what it was told."""

from collections.abc import Callable
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    PolicyPack,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)


def of(
    name: str, say: Callable[[ResourceValidationArgs], Any]
) -> Callable[[ResourceValidationArgs, ReportViolation], None]:
    """Says something of the thing of a name."""

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        if args.resource_type.endswith("Thing") and args.name == name and (text := say(args)) is not None:
            report(str(text), None)

    return validate


def names(args: StackValidationArgs, report: ReportViolation) -> None:
    report(",".join(sorted(it.name for it in args.resources if it.resource_type.endswith("Thing"))), None)


def rewrite(args: ResourceValidationArgs) -> Any:
    return {**args.props, "text": "fixed"} if args.name == "b" else None


def options(args: ResourceValidationArgs) -> str:
    provider = args.provider.name if args.provider is not None else "none"
    return f"protect {args.opts.protect}, parent {args.opts.parent.rpartition('::')[2]}, provider {provider}".lower()


def dependencies(args: StackValidationArgs, report: ReportViolation) -> None:
    for it in args.resources:
        if it.resource_type.endswith("Thing") and it.name == "b":
            depends = sorted(other.name for other in it.dependencies)
            later = [other.name for other in it.property_dependencies["later"]]
            report(f"parent {it.parent.name if it.parent else None}, depends on {depends}, later on {later}", None)


def maximum(args: ResourceValidationArgs) -> str:
    return f"max {int(args.get_config()['max'])}"


SCHEMA = PolicyConfigSchema(properties={"max": {"type": "integer", "default": 4}})

PolicyPack(
    "rules",
    enforcement_level=EnforcementLevel.ADVISORY,
    initial_config={"initial": {"max": 3}},
    policies=[
        ResourceValidationPolicy("says", "d", of("a", lambda args: args.props["text"])),
        ResourceValidationPolicy("severe", "d", of("a", lambda _: "severe"), severity=Severity.HIGH),
        ResourceValidationPolicy("configured", "d", of("a", maximum), config_schema=SCHEMA),
        ResourceValidationPolicy("initial", "d", of("a", maximum), config_schema=SCHEMA),
        ResourceValidationPolicy("left-out", "d", of("a", lambda args: args.not_applicable("it is a thing"))),
        ResourceValidationPolicy("unknown", "d", of("b", lambda args: f"later is {int(args.props['later'])}")),
        ResourceValidationPolicy("secret", "d", of("a", lambda args: f"hidden is {args.props['hidden']}")),
        ResourceValidationPolicy("options", "d", of("b", options)),
        ResourceValidationPolicy("tags", "d", of("a", lambda args: f"team {args.stack_tags.get('team')}")),
        ResourceValidationPolicy("rewrites", "d", remediate=rewrite, enforcement_level=EnforcementLevel.REMEDIATE),
        StackValidationPolicy("names", "d", names),
        StackValidationPolicy("dependencies", "d", dependencies),
    ],
)
