// What a fleet's commands do with single stacks where they run themselves: no worker is asked.
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { parseJson } from "../originals";
import { StackCommands } from "./deploy";
import { FleetError } from "./ends";
import { ATTEMPTS_A_START, type Plan, type StackSpec } from "./wire";

/**
 * What is on record of the last operation of a run on a stack; of the last run where none is named. Throws a `FleetError` when the
 * stack's history cannot be read, or has nothing of the run that is named.
 */
export function showOperation(stack: StackSpec, plan: Plan, run?: string): Promise<string> {
    return beside(stack, plan, async (commands) => {
        const operations = await operationsBy(commands, plan);
        const wanted = operations.find((operation) => run === undefined || operation.run === run);
        if (wanted !== undefined) {
            const shown = await commands.command(["stack", "history", "show", String(wanted.version)]);
            const text = (shown.code === 0 ? shown.stdout : shown.stderr).trimEnd();
            return text.replace(/^( +maloko\.attempt: )(\d+)$/m, (_, name, number) => `${name}${attemptOf(number)}`);
        }
        if (run === undefined) {
            return `No run of the fleet has worked on ${stack.id}`;
        }
        const nothing = `${stack.id} has nothing on record of run ${run}`;
        const [other] = operations;
        throw new FleetError(
            other === undefined
                ? `${nothing}, nor of another one of the fleet`
                : `${nothing}; its last operation was of run ${other.run}:\n\`maloko fleet logs ${stack.id} --run ${other.run}\``,
        );
    });
}

// Which attempt of a run it was, of the number that tells leases which one is the later.
function attemptOf(number: string): number {
    return Math.floor(Number(number) / ATTEMPTS_A_START) + (Number(number) % ATTEMPTS_A_START);
}

/** What a run of the fleet did with a stack. */
export interface Operation {
    run: string;
    attempt: number;
    version: number;
    kind: string;
    result: string;
    started: string;
    changes: Record<string, number>;
}

interface HistoryEntry {
    version: number;
    kind: string;
    result: string;
    startTime: string;
    environment: Record<string, string>;
    resourceChanges?: Record<string, number> | null;
}

/**
 * What the runs of the fleet did with a stack, the newest first. Throws a `FleetError` when the stack's history cannot be read.
 */
export function operationsOf(stack: StackSpec, plan: Plan): Promise<Operation[]> {
    return beside(stack, plan, (commands) => operationsBy(commands, plan));
}

async function operationsBy(commands: StackCommands, plan: Plan): Promise<Operation[]> {
    const told = await commands.command(["stack", "history", "--json", "--page-size", "0"]);
    if (told.why?.reason === "no-stack") {
        return [];
    }
    if (told.code !== 0) {
        throw new FleetError(told.stderr.trim());
    }
    return (parseJson(told.stdout) as HistoryEntry[]).flatMap((entry) => {
        const { "maloko.run": work = "", "maloko.attempt": number = "" } = entry.environment;
        const run = work.split("/", 1)[0] as string;
        const { version, kind, result, startTime: started, resourceChanges } = entry;
        const attempt = attemptOf(number);
        const operation = { run, attempt, version, kind, result, started, changes: resourceChanges ?? {} };
        return run.startsWith(`${plan.fleet}-`) ? [operation] : [];
    });
}

/** Gives a stack the key of the fleet; gives why it has not got it, or nothing. */
export function adoptKey(stack: StackSpec, plan: Plan): Promise<string> {
    return beside(stack, plan, async (commands) => {
        const done = await commands.command(["stack", "change-secrets-provider", "fleet"]);
        return done.code === 0 ? "" : (done.why?.text ?? done.stderr.trim());
    });
}

/**
 * The plan, in which a stack also needs those to which its last state refers. Throws a `FleetError` when stacks refer to each other
 * in a circle.
 */
export async function withReferences(plan: Plan): Promise<Plan> {
    const names = new Set(plan.stacks.map(({ id }) => id));
    const needs = new Map(plan.stacks.map((stack) => [stack.id, [...stack.needs]]));
    for (const group of byProject(plan)) {
        for (const [name, references] of Object.entries(await referencesOf(group, plan))) {
            for (const other of references) {
                if (names.has(name) && names.has(other) && other !== name) {
                    const [earlier, later] = plan.verb === "destroy" ? [name, other] : [other, name];
                    const before = needs.get(later);
                    if (before?.includes(earlier) === false) {
                        before.push(earlier);
                    }
                }
            }
        }
    }
    const circle = circleOf(needs);
    if (circle.length > 0) {
        throw new FleetError(
            `stacks need each other by the references in their states: ${circle.join(", ")}; ` +
                "leave one of them out of the run (`--stack`, `--select`)",
        );
    }
    return { ...plan, stacks: plan.stacks.map((stack) => ({ ...stack, needs: needs.get(stack.id) ?? [] })) };
}

function byProject({ stacks }: Plan): StackSpec[][] {
    const groups = new Map<string, StackSpec[]>();
    for (const stack of stacks) {
        const key = `${stack.project}\n${stack.program}`;
        listAt(groups, key).push(stack);
    }
    return [...groups.values()];
}

function referencesOf(group: StackSpec[], plan: Plan): Promise<Record<string, string[]>> {
    const [first] = group as [StackSpec];
    return beside(first, plan, async (commands) => {
        const names = group.map(({ stack }) => stack);
        const told = await commands.command(["stack", "references", ...names, "--json"]);
        if (told.code === 0) {
            return parseJson(told.stdout) as Record<string, string[]>;
        }
        if (told.why?.reason === "backend") {
            throw new FleetError(`the references of the stacks of ${first.project} cannot be read: ${told.why.text}`);
        }
        // One of them cannot be read. The run tells of that; the others have their order.
        const found: Record<string, string[]> = {};
        for (const name of names.length > 1 ? names : []) {
            const alone = await commands.command(["stack", "references", name, "--json"]);
            Object.assign(found, alone.code === 0 ? parseJson(alone.stdout) : {});
        }
        return found;
    });
}

async function beside<T>(stack: StackSpec, plan: Plan, work: (commands: StackCommands) => Promise<T>): Promise<T> {
    const own = await fs.promises.mkdtemp(path.join(os.tmpdir(), "maloko-stack-"));
    try {
        // Secret values are where workers are, and not asked for here.
        const plain = Object.entries(stack.config).filter(([, value]) => typeof value === "string");
        const named = { ...stack, config: Object.fromEntries(plain) };
        const backend = plan.backend === null ? {} : { backend: plan.backend };
        return await work(new StackCommands(named, own, { directory: plan.directory, ...backend }));
    } finally {
        await fs.promises.rm(own, { recursive: true, force: true });
    }
}

// The stacks that can never begin; none where the order is sound.
function circleOf(needs: ReadonlyMap<string, readonly string[]>): string[] {
    const unmet = new Map<string, number>();
    const dependents = new Map<string, string[]>();
    for (const [name, wanted] of needs) {
        const inRun = wanted.filter((need) => needs.has(need));
        unmet.set(name, inRun.length);
        for (const need of inRun) {
            listAt(dependents, need).push(name);
        }
    }
    const free = [...unmet].filter(([, count]) => count === 0).map(([name]) => name);
    for (let name = free.pop(); name !== undefined; name = free.pop()) {
        for (const dependent of dependents.get(name) ?? []) {
            const left = (unmet.get(dependent) ?? 0) - 1;
            unmet.set(dependent, left);
            if (left === 0) {
                free.push(dependent);
            }
        }
    }
    return [...unmet].filter(([, count]) => count > 0).map(([name]) => name);
}

function listAt<T>(lists: Map<string, T[]>, key: string): T[] {
    const list = lists.get(key) ?? [];
    lists.set(key, list);
    return list;
}
