// The laws are silent on providers that people use: the examples', the template's, and that of the kit's own tests.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { checkLaws, expect, type LawOptions, type ProviderSource, test } from "maloko/vitest";
import { onTestFinished } from "vitest";
import { atNight, NIGHT } from "../support/night";
import { BucketProvider, Cloud } from "./cloud";
import { Labels, Widgets } from "./services";

// The providers of the examples are tried by `make nightly`.
const nightly = atNight(test);

const ROOT = join(import.meta.dirname, "..", "..");

// The file's text where it finds our packages, and with its provider exported. Gives the module, and its directory.
async function loaded(...place: string[]): Promise<{ module: Record<string, any>; directory: string }> {
    const directory = mkdtempSync(join(import.meta.dirname, "tmp-laws-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const text = readFileSync(join(ROOT, ...place), "utf8").replace(/^(class|const) (\w+Provider)\b/m, "export $1 $2");
    const file = join(directory, place.at(-1) ?? "");
    writeFileSync(file, text);
    return { module: await import(/* @vite-ignore */ file), directory };
}

async function outcomes(provider: ProviderSource, options: LawOptions): Promise<Record<string, string>> {
    const verdicts = await checkLaws(provider, { seed: 20, examples: NIGHT ? 8 : 3, ...options });
    const others = verdicts.filter(({ status }) => status !== "holds");
    return Object.fromEntries(others.map(({ law, status, text }) => [law, status === "broken" ? text : status]));
}

nightly("the provider of a new project keeps all laws", async () => {
    const { module, directory } = await loaded("engine-cli", "templates", "typescript", "note.ts");
    const place = join(directory, "notes");
    const files = () => {
        try {
            return readdirSync(place);
        } catch {
            return [];
        }
    };
    const world = {
        objects: files,
        mutateRemote: (id: string) => writeFileSync(join(place, id), "something else, of more than twenty letters"),
        deleteRemote: (id: string) => rmSync(join(place, id)),
        reset: () => rmSync(place, { recursive: true, force: true }),
    };
    const inputs = fc.record({ file: fc.constantFrom("a", "b", "c"), text: fc.string({ maxLength: 20 }) });
    const others = await outcomes(module.NoteProvider, { inputs, world });
    expect(others).toEqual({ L12: "needs", L16: "needs" });
});

nightly("the provider of widgets over HTTP keeps all laws", async () => {
    const { module } = await loaded("examples", "typescript", "widgets", "widgets.ts");
    const inputs = fc.record({
        title: fc.stringMatching(/^[a-z]{1,10}$/),
        size: fc.constantFrom("small", "medium", "large"),
    });
    const others = await outcomes(module.widgetProvider, { inputs, world: Widgets, volatile: ["revision"] });
    expect(others).toEqual({ L1: "needs", L7: "needs", L12: "needs", L16: "needs" });
});

nightly("the provider of repository labels over HTTP keeps all laws", async () => {
    const { module } = await loaded("examples", "typescript", "repository-labels", "labels.ts");
    const inputs = fc.record(
        {
            repository: fc.constantFrom("acme/website", "acme/app"),
            label: fc.stringMatching(/^[a-z]{3,10}$/),
            color: fc.stringMatching(/^[0-9a-fA-F]{6}$/),
            description: fc.string({ maxLength: 10 }),
        },
        { requiredKeys: ["repository", "label", "color"] },
    );
    const others = await outcomes(module.LabelProvider, {
        inputs,
        world: Labels,
        config: (world: Labels) => ({ githubToken: "demo-token", githubApi: world.address }),
        waive: { L9: "labels are imported by OWNER/NAME/LABEL, and not by the id that GitHub gives them" },
    });
    expect(others).toEqual({ L9: "waived", L12: "needs", L16: "needs" });
});

nightly("the provider of stable ids keeps all laws", async () => {
    const { module } = await loaded("examples", "typescript", "stable-id", "stableId.ts");
    const others = await outcomes(module.stableIdProvider, {
        inputs: fc.record({ size: fc.integer({ min: 8, max: 32 }) }),
        waive: {
            L5: "the resource's class ignores changes of `size`",
            L8: "nothing outside of the state remembers an identifier",
        },
    });
    const needs = ["L1", "L7", "L11", "L12", "L13", "L16"].map((law) => [law, "needs"]);
    expect(others).toEqual({ ...Object.fromEntries(needs), L5: "waived", L8: "waived" });
});

nightly("the provider of the kit's own tests keeps all laws", async () => {
    const inputs = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), acl: fc.constantFrom("public", "private") });
    const waive = { L13: "the cloud of the kit's tests has no idempotency keys" };
    const others = await outcomes(BucketProvider, { inputs, world: Cloud, waive });
    expect(others).toEqual({ L1: "needs", L11: "needs", L12: "needs", L13: "waived", L16: "needs" });
});
