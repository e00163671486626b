//! The documents that are part of the program, which messages point to wherever it is installed.

/// A topic: its name, what it is about, and its text.
type Topic = (&'static str, &'static str, &'static str);

pub(crate) const TOPICS: &[Topic] = &[
    ("authoring-providers", "writing and debugging a provider", include_str!("../topics/authoring-providers.md")),
    ("automation", "stacks driven from a program", include_str!("../topics/automation.md")),
    ("autonaming", "automatic names", include_str!("../topics/autonaming.md")),
    ("backends", "where state can be kept", include_str!("../topics/backends.md")),
    ("command-line", "verbs, flags, exit codes, variables", include_str!("../topics/command-line.md")),
    ("differences-from-pulumi", "what is different on purpose", include_str!("../topics/differences-from-pulumi.md")),
    ("fleet-file", "fleet.yaml: many stacks in one file", include_str!("../topics/fleet-file.md")),
    ("fleets", "thousands of stacks on many machines", include_str!("../topics/fleets.md")),
    (
        "how-a-provider-is-found",
        "which provider object is called",
        include_str!("../topics/how-a-provider-is-found.md"),
    ),
    ("importing", "adopting what exists", include_str!("../topics/importing.md")),
    ("looking-at-a-run", "pages of stacks and runs", include_str!("../topics/looking-at-a-run.md")),
    ("moving-from-pulumi", "moving a stack here and back", include_str!("../topics/moving-from-pulumi.md")),
    ("packages", "resources of packages beside dynamic ones", include_str!("../topics/packages.md")),
    ("policies", "policy packs: rules for resources", include_str!("../topics/policies.md")),
    ("provider-laws", "laws and lifecycles of providers", include_str!("../topics/provider-laws.md")),
    ("sdks", "SDKs of packages, and any Terraform provider", include_str!("../topics/sdks.md")),
    ("state", "layout, journal, secrets, locks", include_str!("../topics/state.md")),
    ("testing", "testing with pytest, vitest and jest", include_str!("../topics/testing.md")),
    ("tracing", "traces and metrics by OpenTelemetry", include_str!("../topics/tracing.md")),
    ("transforms-and-hooks", "transforms and hooks", include_str!("../topics/transforms-and-hooks.md")),
];

/// The topics, as `--help` lists them.
#[must_use]
pub(crate) fn list() -> String {
    let width = TOPICS.iter().map(|(name, ..)| name.len()).max().unwrap_or_default();
    let lines = TOPICS.iter().map(|(name, about, _)| format!("  {name:width$}  {about}\n"));
    std::iter::once("Topics (`maloko help TOPIC`):\n".to_owned()).chain(lines).collect()
}
