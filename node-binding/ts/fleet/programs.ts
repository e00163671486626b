// Programs of stacks: functions of a file, such as `dist/tenant.js#program` or the same of TypeScript, and directories with a
// Pulumi.yaml.
import * as fs from "node:fs";
import * as path from "node:path";
import type { PulumiFn } from "@pulumi/pulumi/automation";
import { loadProject } from "../automation/settings";
import { findEntry, loadFile, prepareLoader, readTypeScript } from "../loading/program";
import { describeWithPlace, messageOf } from "../process/errors";
import { refuseExits } from "../process/exits";
import { FleetError } from "./ends";
import type { StackSpec } from "./wire";

const FILES = /\.[cm]?[jt]s$/;
const TYPESCRIPT = /\.[cm]?ts$/;
const MEND = "mend the program, or install what it imports, and start the worker again";

let preparing: Promise<void> | undefined;

/**
 * The function, from a file below the fleet's directory. Throws a `FleetError` when the file cannot be loaded, or exports no such
 * function.
 */
export async function loadProgram(root: string, place: string): Promise<PulumiFn> {
    const [name, named] = split(place);
    if (!FILES.test(named) || path.isAbsolute(named) || named.split(/[\\/]/).includes("..")) {
        throw new FleetError(`the program ${place} is no FILE.js#FUNCTION below the directory of the fleet`);
    }
    const file = path.join(root, named);
    if (!fs.existsSync(file)) {
        throw new FleetError(`the program ${place} is not there: ${file} does not exist`);
    }
    let exported: unknown;
    const acceptExits = refuseExits(() => true);
    try {
        const entry = findEntry(file);
        // Two stacks of one program begin at the same time.
        preparing ??= prepareLoader({ ...entry, workingDirectory: root }, root, {});
        await preparing;
        if (TYPESCRIPT.test(named)) {
            await readTypeScript(entry);
        }
        exported = await loadFile(entry.file);
    } catch (error) {
        throw new FleetError(`the program ${place} cannot be loaded: ${describeWithPlace(error)}`, { cause: error });
    } finally {
        acceptExits();
    }
    const program = (exported as Record<string, unknown> | undefined)?.[name];
    if (typeof program !== "function") {
        throw new FleetError(`the program ${place}: ${named} exports no function '${name}'`);
    }
    return program as PulumiFn;
}

/**
 * Loads the programs of stacks, for with the first stack there is no time for that; looks for those that are directories. Gives a
 * warning for each that cannot be loaded, where others can; throws a `FleetError` where none of them can.
 */
export async function loadPrograms(root: string, stacks: readonly StackSpec[]): Promise<string[]> {
    const projects = new Map<string, Set<string>>();
    const wrong = new Map<string, string>();
    for (const { program, project, inline } of stacks) {
        const known = projects.get(program);
        projects.set(program, (known ?? new Set<string>()).add(project));
        if (known === undefined) {
            try {
                await (inline ? loadProgram(root, program) : findMain(root, program));
            } catch (error) {
                const [line = ""] = (error as Error).message.split("\n", 1);
                wrong.set(program, line);
            }
        }
    }
    if (wrong.size > 0 && wrong.size === projects.size) {
        throw new FleetError(noneOf([...wrong.values()]));
    }
    return [...wrong].map(
        ([program, error]) => `${error}. Stacks of ${projectWords(projects.get(program))} fail at this worker: ${MEND}`,
    );
}

// The program of a directory runs in a process of its own, and is not loaded here.
function findMain(root: string, place: string): void {
    const directory = path.join(root, place);
    try {
        const { main } = loadProject(directory) as { main?: unknown };
        findEntry(path.join(directory, typeof main === "string" ? main : ""));
    } catch (error) {
        throw new FleetError(`the program ${place} cannot be loaded: ${messageOf(error)}`, { cause: error });
    }
}

function noneOf(errors: readonly string[]): string {
    const others =
        errors.length === 1
            ? "This worker has no other program, and ends"
            : `This worker can load none of its ${errors.length} programs, and ends`;
    return `${errors[0]}\n${others}: ${MEND}`;
}

function projectWords(names: Iterable<string> = []): string {
    const listed = [...names].sort().map((name) => `'${name}'`);
    return `${listed.length === 1 ? "the project" : "the projects"} ${listed.join(", ")}`;
}

function split(place: string): [name: string, file: string] {
    const at = place.lastIndexOf("#");
    return [place.slice(at + 1), place.slice(0, Math.max(at, 0))];
}
