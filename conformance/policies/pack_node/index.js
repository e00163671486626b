// A policy for each row of the table; each says what it was told.
const { PolicyPack } = require("@pulumi/policy");

const of = (name, say) => (args, report) => {
    if (args.type.endsWith("Thing") && args.name === name) {
        report(String(say(args)));
    }
};
const resource = (name, validateResource, more) => ({ name, description: "d", validateResource, ...more });
const stack = (name, validateStack) => ({ name, description: "d", validateStack });
const last = (urn) => urn.slice(urn.lastIndexOf("::") + 2);
const maximum = (args) => `max ${args.getConfig().max}`;
const configSchema = { properties: { max: { type: "integer", default: 4 } } };
const things = (args) => args.resources.filter((it) => it.type.endsWith("Thing"));
const listed = (resources) => `[${resources.map((it) => `'${it.name}'`).sort()}]`;

new PolicyPack(
    "rules",
    {
        enforcementLevel: "advisory",
        policies: [
            resource("says", of("a", (args) => args.props.text)),
            resource("severe", of("a", () => "severe"), { severity: "high" }),
            resource("configured", of("a", maximum), { configSchema }),
            resource("initial", of("a", maximum), { configSchema }),
            resource("left-out", of("a", (args) => args.notApplicable("it is a thing"))),
            resource("unknown", of("b", (args) => `later is ${args.props.later}`)),
            resource("secret", of("a", (args) => `hidden is ${args.props.hidden}`)),
            resource(
                "options",
                of("b", ({ opts, provider }) =>
                    `protect ${opts.protect}, parent ${last(opts.parent)}, provider ${provider?.name ?? "none"}`,
                ),
            ),
            resource("tags", of("a", (args) => `team ${args.stackTags.get("team")}`)),
            resource("rewrites", undefined, {
                enforcementLevel: "remediate",
                remediateResource: (args) => (args.name === "b" ? { ...args.props, text: "fixed" } : undefined),
            }),
            stack("names", (args, report) => report(things(args).map((it) => it.name).sort().join())),
            stack("dependencies", (args, report) => {
                for (const it of things(args).filter(({ name }) => name === "b")) {
                    const later = listed(it.propertyDependencies.later);
                    report(`parent ${it.parent?.name}, depends on ${listed(it.dependencies)}, later on ${later}`);
                }
            }),
        ],
    },
    { initial: { max: 3 } },
);
