// What JSON says of a change: at least what the text says.
import { expect, test } from "vitest";
import { project } from "../support/project";

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";

type Props = Record<"label" | "zone", string>;

class Boxes {
    async create(props: Props) { return { id: "box-" + props.zone, outs: props }; }
    async diff(_id: string, olds: Props, news: Props) {
        const changed = (["label", "zone"] as const).filter((key) => olds[key] !== news[key]);
        return { changes: changed.length > 0, replaces: changed.filter((key) => key === "zone") };
    }
    async update(_id: string, _olds: Props, news: Props) { return { outs: news }; }
}
class Box extends pulumi.dynamic.Resource {
    constructor(name: string, props: Props) { super(new Boxes() as any, name, props); }
}
const isNew = process.env.NEW !== undefined;
new Box("moved", { label: "a", zone: isNew ? "north" : "south" });
new Box("relabelled", { label: isNew ? "b" : "a", zone: "south" });
`;

const UP = ["up", "--yes", "--skip-preview"];

interface Entry {
    urn: string;
    op: string;
    steps?: string[];
    keys?: string[];
    diffs?: string[];
    diffReasons?: string[];
    replaceReasons?: string[];
}

function entries(listed: Entry[], name: string): Entry[] {
    return listed.filter(({ urn }) => urn.endsWith(`::${name}`));
}

test("json has the reasons of the text, and one entry for a replacement", () => {
    const it = project({ "index.ts": PROGRAM });
    it.up();
    const changed = (...command: string[]) => it.runWith({ NEW: "1" }, ...command).stdout;
    const text = changed("preview");
    expect(text).toContain("+- Resource moved replace [~zone]\n");
    expect(text).toContain("~ Resource relabelled update [~label]\n");

    const replaced = { op: "replace", replaceReasons: ["zone"], diffReasons: ["zone"] };
    const updated = { op: "update", diffReasons: ["label"] };
    const { steps } = JSON.parse(changed("preview", "--json")) as { steps: Entry[] };
    expect(entries(steps, "moved")).toMatchObject([replaced]);
    expect(entries(steps, "relabelled")).toMatchObject([updated]);

    // A replacement is one entry with its parts.
    const parts = ["create-replacement", "replace", "delete-replaced"];
    for (const command of [["preview"], UP]) {
        const { resources } = JSON.parse(changed(...command, "--output", "json")) as { resources: Entry[] };
        expect(entries(resources, "moved")).toMatchObject([{ ...replaced, steps: parts }]);
        expect(entries(resources, "relabelled")).toMatchObject([updated]);
    }

    // Back to what was.
    const lines = it
        .ok(...UP, "--json")
        .split("\n")
        .filter(Boolean);
    const events = lines.flatMap((line) => {
        const { resourcePreEvent } = JSON.parse(line) as { resourcePreEvent?: { metadata: Entry } };
        return resourcePreEvent === undefined ? [] : [resourcePreEvent.metadata];
    });
    const replacements = entries(events, "moved").filter(({ op }) => op === "replace");
    expect(replacements).toMatchObject([{ keys: ["zone"], diffs: ["zone"] }]);
    expect(entries(events, "relabelled")).toMatchObject([{ op: "update", diffs: ["label"] }]);
});
