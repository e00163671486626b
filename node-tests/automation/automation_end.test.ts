// All in Node alone: `beforeExit` is Node's
// The end of an inline program: its process goes on, and what the program does in `beforeExit` is part of it all the same.
import { expect, test } from "vitest";
import { runScript } from "../support/automation-kit";
import { atNight } from "../support/night";

const nightly = atNight(test);

const NAMES = `
async function names(program, stackName) {
    const stack = await LocalWorkspace.createOrSelectStack({ stackName, projectName: "project", program }, JSON.parse(process.argv[2]));
    await stack.up();
    const { resources } = (await stack.exportStack()).deployment;
    return resources.map(({ urn }) => urn.split("::").pop()).slice(2).sort();
}
`;

test("what an inline program registers in beforeExit is its own, in each of many runs", () => {
    const { status, stdout, stderr } = runScript(`${NAMES}
        let early = 0;
        process.on("beforeExit", () => { early++; });
        const program = (stack) => async () => {
            const rounds = [
                () => { new Thing("at once"); },
                async () => { await sleep(20); new Thing("later in " + pulumi.getStack()); },
            ];
            process.on("beforeExit", () => rounds.shift()?.());
            process.once("beforeExit", () => new Thing("once in " + stack));
            new Thing("first");
            await sleep(stack === "one" ? 50 : 5);
        };
        console.log(...await Promise.all(["one", "two"].map((stack) => names(program(stack), stack))));
        console.log(await names(program("one"), "one"), early);`);
    const of = (stack: string) => `[ 'at once', 'first', 'later in ${stack}', 'once in ${stack}' ]`;
    expect(stderr).toBe("");
    expect(stdout.replace(/\s+/g, " ")).toBe(`${of("one")} ${of("two")} ${of("one")} 0 `);
    expect(status).toBe(0);
});

nightly("a handler of an ended inline program disturbs neither the next run nor the end of the process", () => {
    const { status, stdout, stderr } = runScript(`${NAMES}
        let calls = 0;
        const late = () => { if (calls++ !== 1 && calls < 4) { new Thing("late " + calls); } };
        console.log(await names(() => { process.on("beforeExit", late); }, "one"), calls);
        console.log(await names(() => { new Thing("only"); }, "two"), calls);
        process.once("exit", () => console.log(calls > 2));`);
    expect([status, stdout, stderr]).toEqual([0, "[ 'late 1' ] 2\n[ 'only' ] 2\ntrue\n", ""]);
});

test("an error in beforeExit of an inline program fails its run", () => {
    const { status, stdout } = runScript(`
        console.log(await up(() => { process.once("beforeExit", () => { throw new RangeError("at the end"); }); }));
        console.log(await up(() => { process.once("beforeExit", async () => { throw new RangeError("a little later"); }); }, "other"));`);
    expect([status, stdout]).toEqual([
        0,
        "CommandError: RangeError: at the end\nCommandError: RangeError: a little later\n",
    ]);
});
