// Each place of the SDK that maloko hooks: without it, an error that names the SDK and the place, or the run goes on.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atNight, byDay } from "../support/night";
import { type Project, project } from "../support/project";

const nightly = atNight(test);

const PROGRAM = `const pulumi = require("@pulumi/pulumi");
class Provider { async create(inputs) { return { id: "made", outs: inputs }; } }
class Thing extends pulumi.dynamic.Resource { constructor(name, props) { super(new Provider(), name, props); } }
new Thing("a", { n: 1 });`;
const UP = ["up", "--yes", "--skip-preview", "--stack", "dev"];

/** A project with a copy of the SDK of its own, which may be changed. */
function withOwnSdk(): Project {
    const it = project({ "Pulumi.yaml": "name: test\nruntime: nodejs\nmain: app\n", "app/index.js": PROGRAM });
    it.copySdkInto("app");
    return it;
}

/** Does something while a file of the SDK is another one; a change that does not apply is a mistake of the test. */
function changed(it: Project, name: string, change: (text: string) => string, then: () => void): void {
    const file = join(it.directory, "app", "node_modules", "@pulumi", "pulumi", name);
    const before = readFileSync(file, "utf8");
    const after = change(before);
    expect(after, name).not.toBe(before);
    writeFileSync(file, after);
    then();
    writeFileSync(file, before);
}

const without = (name: string) => (text: string) => `${text}\ndelete exports.${name}; exports.${name} = undefined;\n`;

test("without a place that results depend on the error names the SDK and the seam", () => {
    const it = withOwnSdk();
    const places = [
        ["runtime/stack", "runInPulumiStack"],
        ["runtime/config", "setAllConfig"],
        ["runtime/settings", "resetOptions"],
        ["runtime/state", "LocalStore"],
        ["runtime/state", "asyncLocalStorage"],
    ] as const;
    // By day a function, and what is a variable of the process.
    for (const [file, name] of byDay(places, (_row, place) => place % 4 === 0)) {
        // The storage is a variable of the process, not an export.
        const change =
            name === "asyncLocalStorage"
                ? (text: string) => text.replaceAll(`global.${name}`, "global.runs")
                : without(name);
        changed(it, `${file}.js`, change, () => {
            const { status, output } = it.run(...UP);
            expect(status, name).not.toBe(0);
            expect(output).toContain("@pulumi/pulumi 3.276.0");
            expect(output).toContain(`${file}.${name}`);
            expect(output).toContain("npm install @pulumi/pulumi@3.276.0");
            expect(it.resources()).toEqual([]);
        });
    }
    it.up();
});

test("without one of the two places of the serialiser the other one does", () => {
    const it = withOwnSdk();
    const option = (text: string) => text.replace("options().cacheDynamicProviders", "options().cacheOfProviders");
    changed(it, "runtime/settings.js", option, () => it.up());
    expect(it.resources()).toEqual(["a"]);
});

test("the installed SDK has every place that maloko looks for", () => {
    const from = createRequire(import.meta.url);
    const load = (name: string) => from(`@pulumi/pulumi/${name}`) as Record<string, Record<string, unknown>>;
    const { Resource } = load("resource");
    const references = load("stackReference").StackReference?.prototype as Record<string, unknown>;
    const functions = {
        "runtime/debuggable.debuggablePromise": load("runtime/debuggable").debuggablePromise,
        "log.debug": load("log").debug,
        "resource.Resource.stackTrace": Resource?.stackTrace,
        "resource.Resource.callsites": Resource?.callsites,
        "runtime/callbacks.CallbackServer": load("runtime/callbacks").CallbackServer,
        "runtime/resource.registerResource": load("runtime/resource").registerResource,
        "output.Output.prototype.get": (load("output").Output?.prototype as Record<string, unknown>).get,
        "runtime/invoke.invoke": load("runtime/invoke").invoke,
        "stackReference.StackReference.prototype.getOutput": references.getOutput,
        "stackReference.StackReference.prototype.requireOutput": references.requireOutput,
    };
    expect(Object.entries(functions).filter(([, it]) => typeof it !== "function")).toEqual([]);
    expect("outputs" in references, "each reference has its own").toBe(false);
    for (const file of ["automation/index.js", "runtime/closure/serializeClosure.js", "runtime/closure/codePaths.js"]) {
        expect(existsSync(from.resolve(`@pulumi/pulumi/${file}`)), file).toBe(true);
    }
});

nightly("places that only speed depends on are done without", () => {
    const it = withOwnSdk();
    const debuggable = (text: string) => text.replaceAll("debuggablePromise", "promiseForDebuggers");
    changed(
        it,
        "resource.js",
        (text) => text.replaceAll("callsites", "sitesOfCalls"),
        () => it.up(),
    );
    changed(
        it,
        "runtime/debuggable.js",
        (text) => `${debuggable(text)}\nexports.debuggablePromise = (it) => it;\n`,
        () => it.up(),
    );
    changed(
        it,
        "index.js",
        (text) => text.replace("./automation", "./automation/index.js"),
        () => it.up(),
    );
    changed(it, "runtime/callbacks.js", without("CallbackServer"), () => it.up());
    const named = (text: string) =>
        text.replaceAll("getOutput", "giveOutput").replaceAll("requireOutput", "needOutput");
    changed(it, "stackReference.js", named, () => it.up());
    expect(it.resources()).toEqual(["a"]);
});

test("an SDK that is newer than the tested ones is a warning", () => {
    const it = withOwnSdk();
    const newer = (text: string) => text.replace('"version": "3.276.0"', '"version": "3.9999.0"');
    changed(it, "package.json", newer, () => {
        const { status, output } = it.run(...UP);
        expect(status).toBe(0);
        expect(output).toContain("@pulumi/pulumi 3.9999.0 is newer");
    });
});
