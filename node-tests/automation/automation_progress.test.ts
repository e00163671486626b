// How far an operation has come, as those are told who do not want to know what happens in it.
import { symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { LocalWorkspace, type Progress, type Stack } from "maloko/automation";
import { expect, test } from "vitest";
import { echo, newStack, placed } from "../support/automation-kit";
import { Echo, failureOf, heldCreate, Thing } from "../support/kit";

/** Seconds after which no test goes on: what is told then is told at the end alone. */
const NEVER = 3600;

const MODULES = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules");

const two = (slow: object) => async () => {
    new Thing(new Echo(), "quick", { text: "a" });
    new Thing(slow as Echo, "slow", { text: "a" });
};

const short = ({ done, total, failed }: Progress) => [done, total, failed];

const callsOf = ({ slowest }: Progress) => slowest.map(([urn, method]) => [urn.split("::").at(-1), method]);

function rises(reports: Progress[]): boolean {
    return reports.every((report, index) => index === 0 || report.reports > (reports[index - 1] as Progress).reports);
}

test("an operation tells how far it has come", async () => {
    const { provider, letGo } = heldCreate();
    const stack = await newStack(two(provider));
    const reports: Progress[] = [];
    // The quick one and the stack are done, and the other one goes on.
    const isDuring = (report: Progress) => report.done === 2 && report.slowest.length > 0;
    const onProgress = (report: Progress) => {
        reports.push(report);
        if (isDuring(report)) {
            letGo();
        }
    };
    const { summary } = await stack.up({ onProgress, progressEvery: 0.01 });
    const during = reports.find(isDuring) as Progress;
    expect(short(during)).toEqual([2, 3, 0]);
    expect(callsOf(during)).toEqual([["slow", "create"]]);
    expect(during.slowest[0]?.[2]).toBeGreaterThan(0);
    const last = reports.at(-1) as Progress;
    expect([short(last), last.slowest]).toEqual([[3, 3, 0], []]);
    expect(summary.resourceChanges).toEqual({ create: last.done });
    expect(rises(reports)).toBe(true);
});

test("how far an operation has come is told to whoever asks", async () => {
    const options = placed();
    const { provider, begun, letGo } = heldCreate();
    const stack = await newStack(two(provider), options);
    expect(await stack.progress()).toBeUndefined();
    const running = stack.up();
    await begun;
    // Any object of the stack knows it.
    const args = { stackName: "dev", projectName: "project", program: two(provider) };
    const other = await LocalWorkspace.selectStack(args, options);
    const reports = [await stack.progress(), await other.progress()] as [Progress, Progress];
    letGo();
    await running;
    // The quick one may be made still.
    expect(callsOf(reports[0])).toContainEqual(["slow", "create"]);
    expect([reports[0].total, reports[1].total, rises(reports)]).toEqual([3, 3, true]);
    expect(await stack.progress()).toBeUndefined();
});

test("every operation tells it at its end however rarely it is told", async () => {
    const stack = await newStack(echo);
    let reports: Progress[] = [];
    const given = { onProgress: (report: Progress) => void reports.push(report), progressEvery: NEVER };
    const verbs = ["preview", "up", "previewRefresh", "refresh", "previewDestroy", "destroy"] as const;
    for (const verb of verbs) {
        reports = [];
        await stack[verb](given);
        expect(reports, verb).toEqual([{ done: 2, total: 2, failed: 0, reports: 1, slowest: [] }]);
    }
    reports = [];
    const resources = [{ type: "pulumi-nodejs:dynamic:Resource", name: "b", id: "there" }];
    // Beside the stack, which it makes.
    await failureOf(stack.import({ resources, ...given }));
    expect(reports.map(short)).toEqual([[1, 2, 1]]);
});

test("what fails is counted and what waits for its turn is told", async () => {
    const options = placed();
    const { provider, begun, letGo } = heldCreate();
    const stack = await newStack(two(provider), options);
    const running = stack.up();
    await begun;
    const reports: Progress[] = [];
    const onProgress = (report: Progress) => {
        reports.push(report);
        letGo();
    };
    const failing = {
        create: async () => {
            throw new Error("no room");
        },
    };
    const program = async () => void new Thing(failing as unknown as Echo, "b", {});
    const args = { stackName: "dev", projectName: "project", program };
    const other = await LocalWorkspace.selectStack(args, options);
    await failureOf(other.up({ lockTimeout: "1m", onProgress, progressEvery: 0.01 }));
    await running;
    // It had not begun.
    expect(short(reports[0] as Progress)).toEqual([0, 0, 0]);
    expect(short(reports.at(-1) as Progress)).toEqual([1, 2, 1]);
});

test("what a listener of progress raises comes at the end", async () => {
    const stack = await newStack(echo);
    const onProgress = () => {
        throw new RangeError("mine");
    };
    expect((await failureOf(stack.up({ onProgress, progressEvery: NEVER }))).message).toBe("mine");
    expect((await stack.outputs()).text?.value).toBe("none");
    for (const progressEvery of [0, -1, Number.POSITIVE_INFINITY]) {
        expect((await failureOf(stack.up({ onProgress, progressEvery }))).message).toContain("progressEvery");
    }
});

const LOCAL = `
const fs = require("node:fs");
const path = require("node:path");
const pulumi = require("@pulumi/pulumi");
class Thing extends pulumi.dynamic.Resource {}
const create = async (inputs) => {
    while (!fs.existsSync(inputs.file)) {
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return { id: "made", outs: inputs };
};
new Thing({ create }, "slow", { file: path.resolve("go-on") });
`;

test.each([false, true])("a program in a process of its own tells how far it is", async (isolated) => {
    const options = placed();
    const workDir = options.workDir as string;
    symlinkSync(MODULES, join(workDir, "node_modules"));
    writeFileSync(join(workDir, "Pulumi.yaml"), "name: project\nruntime: nodejs\n");
    writeFileSync(join(workDir, "index.js"), LOCAL);
    const stack: Stack = await LocalWorkspace.createStack({ stackName: "dev", workDir }, options);
    const reports: Progress[] = [];
    const asked: Promise<Progress | undefined>[] = [];
    const onProgress = (report: Progress) => {
        reports.push(report);
        if (report.slowest.length > 0 && asked.length === 0) {
            asked.push(stack.progress());
            writeFileSync(join(workDir, "go-on"), "");
        }
    };
    await stack.up({ onProgress, progressEvery: 0.01, isolated });
    const during = reports.find(({ slowest }) => slowest.length > 0) as Progress;
    expect(callsOf(during)).toEqual([["slow", "create"]]);
    // What is there to be asked for is what was told last.
    expect(reports).toContainEqual(await asked[0]);
    const last = reports.at(-1) as Progress;
    expect([short(last), last.slowest]).toEqual([[2, 2, 0], []]);
    expect(rises(reports)).toBe(true);
});
