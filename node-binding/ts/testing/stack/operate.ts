// One operation on a stack of a test: the engine's side is begun, the program runs in this process, a report comes back.

import type { NativeStack } from "../../native";
import { parseJson, toJsonText } from "../../originals";
import { refuseExits } from "../../process/exits";
import { ProviderRegistry } from "../../providers/registry";
import { Bridge, ProgramFailed } from "../../run/bridge";
import { whenQuiet } from "../../run/quiet";
import { Run } from "../../run/run";
import { attributeUncaught } from "../../run/uncaught";
import { Sdk } from "../../sdk";
import type { ReportedCall } from "./calls";
import type { Packages } from "./packages";
import type { Planned } from "./plan";
import type { CrashKind, Point } from "./points";
import { type PolicyOrFolder, policyOrder, type Remediation, type Violation } from "./policies";
import type { Fault } from "./stubs";

/** A value of the configuration, as the engine's side takes it. */
export interface ConfigEntry {
    value: string;
    secret: boolean;
}

/** An object that is taken over as a resource; `parent`: null for the stack. */
export interface Import {
    urn: string;
    type: string;
    parent: string | null;
    id: string;
}

/** What is asked of the engine; engine-kit's run_request.rs explains the members. */
export interface Order {
    verb: "up" | "refresh" | "destroy" | "import";
    preview: boolean;
    /** Has the test not asked for it, but a task of the kit's? */
    aside?: boolean;
    time: "virtual" | "real";
    config: Record<string, ConfigEntry>;
    references: Record<string, Record<string, unknown>>;
    parallel?: number;
    refresh?: boolean;
    continueOnError?: boolean;
    ignoreProtect?: boolean;
    targets?: string[];
    excludes?: string[];
    replace?: string[];
    updateChangedProviders?: boolean;
    imports?: Import[];
    policies?: PolicyOrFolder[];
    policyConfig?: Record<string, unknown>;
    crash?: { label: string; kind: CrashKind };
    seed?: number;
    unkept?: boolean;
    page?: boolean;
}

/** `key`: what the resource is called in the plan. */
type Entry = Planned & { key: string };

/** Its outcome. */
export interface Report {
    outcome: "succeeded" | "failed" | "cancelled" | "crashed";
    error: string | null;
    plan: Entry[];
    changes: Record<string, number>;
    steps: [op: string, urn: string][];
    diagnostics: { severity: string; urn: string; message: string }[];
    calls: ReportedCall[];
    outputs: Record<string, unknown>;
    secretOutputs: string[];
    points: Point[];
    struck: { point: Point; kind: CrashKind } | null;
    seconds: number;
    violations: Violation[];
    remediations: Remediation[];
    /** Which mandatory policies failed it, in words. */
    refusal: string | null;
    /** What was noted for its page, where the order asks for that. */
    page?: string;
    /** The very object that was thrown, if one was. */
    thrown?: { value: unknown };
}

/** Where and with what the program runs. */
export interface Place {
    project: string;
    stack: string;
    directory: string;
    /** A program that waits so long (in milliseconds) for nothing that the engine does will never end; default: none does. */
    quiet?: number;
    /** The provider objects of the stack's earlier runs: the program may not make them any more. */
    providers: object[];
    /** What stands in for the plugins of packages; without it they are stubbed. */
    packages?: Packages;
    /** Does somebody else keep the process alive? */
    alive: boolean;
}

/** An operation that goes on. */
export interface Operating {
    report: Promise<Report>;
    /** Ends it as Ctrl-C would. */
    cancel(): void;
    /** The provider calls that it waits for: `create of b`. */
    calls(): string[];
}

/** Begins an operation. The report's promise fails only for what no program and no provider can be blamed for. */
export function operate(
    native: NativeStack,
    order: Order,
    faults: Fault[],
    place: Place,
    program: () => unknown,
): Operating {
    const bridge = Bridge.get();
    if (place.alive) {
        bridge.leaveProcess();
    }
    const sdk = Sdk.load(place.directory);
    const number = bridge.newOperation();
    const registry = new ProviderRegistry(bridge.native, place.directory, undefined, ({ name }) => {
        const [found, ...others] = place.providers.filter((it) => it.constructor?.name === name);
        return others.length === 0 ? found : undefined;
    });
    let engine = 0;
    const settings = {
        project: place.project,
        stack: place.stack,
        organization: "organization",
        dryRun: order.preview,
        config: Object.fromEntries(Object.entries(order.config).map(([key, { value }]) => [key, value])),
        secretKeys: Object.entries(order.config).flatMap(([key, { secret }]) => (secret ? [key] : [])),
        projectRoot: place.directory,
    };
    const run = new Run(bridge, registry, (number, _text, it) => {
        engine = number;
        return it.execute(sdk, settings, "program", () => it.toItsEnd(program));
    });
    run.keepQuiet();
    run.guardModuleBodies(place.project, place.stack);
    bridge.serve(number, run);
    const allowExits = refuseExits();
    const stopAttributing = attributeUncaught(run, "program");
    const stopLooking = place.quiet === undefined ? undefined : endWhenQuiet(run, place.quiet);
    const numbered = faults.map(({ deed, ...fault }) => {
        return { ...fault, ...deed, ...("object" in deed ? { object: registry.numberOf(deed.object) } : {}) };
    });
    const packages = place.packages?.order(registry, place.directory);
    const { policies, policyConfig, ...plain } = order;
    const looking =
        policies === undefined ? {} : { policies: policyOrder(run, policies, policyConfig, place.directory) };
    const text = toJsonText({ ...plain, ...looking, ...packages, directory: place.directory, faults: numbered });
    const report = bridge
        .runTest(number, native, text, toJsonText({ registry: number }))
        .then((answer) => reportOf(bridge, answer))
        .finally(() => {
            stopLooking?.();
            stopAttributing();
            allowExits();
            // Those of this run take the place of those of their classes.
            const made = registry.objects;
            const classes = new Set(made.map((it) => it.constructor));
            place.providers = [...place.providers.filter((it) => !classes.has(it.constructor)), ...made];
            registry.close();
            bridge.stopServing(number);
        });
    const calls = (): string[] =>
        run.making.map(({ method, urn }) => `\`${method}\` of ${urn.slice(urn.lastIndexOf("::") + 2)}`);
    return { report, cancel: () => bridge.native.cancel(engine), calls };
}

function reportOf(bridge: Bridge, text: string): Report {
    const { thrown, fault, ...report } = parseJson(text) as Omit<Report, "thrown"> & { thrown: number; fault?: string };
    if (fault !== undefined) {
        throw new Error(fault);
    }
    const original = bridge.errorOf(thrown);
    return original === undefined ? report : { ...report, thrown: { value: original.thrown } };
}

// Within a test runner the process always has something to do, so that Node cannot tell that a program waits in vain.
function endWhenQuiet(run: Run, quiet: number): () => void {
    return whenQuiet(
        () => run.waitsForItself,
        quiet,
        () => {
            const { text } = run.stuck("program");
            const failed = `${text}\n(nothing has happened for ${quiet / 1000} s; a program that only takes its time: \`quiet\` of the stack)`;
            run.abortWith(new ProgramFailed(failed, new Error(failed)));
        },
    );
}
