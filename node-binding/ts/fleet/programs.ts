// Programs that are functions of a file: `dist/tenant.js#program`, and the same of TypeScript.
import * as fs from "node:fs";
import * as path from "node:path";
import type { PulumiFn } from "@pulumi/pulumi/automation";
import { findEntry, loadFile, prepareLoader, readTypeScript } from "../loading/program";
import { describeWithPlace } from "../process/errors";
import { FleetError } from "./ends";
import type { StackSpec } from "./wire";

const FILES = /\.[cm]?[jt]s$/;
const TYPESCRIPT = /\.[cm]?ts$/;

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
    }
    const program = (exported as Record<string, unknown> | undefined)?.[name];
    if (typeof program !== "function") {
        throw new FleetError(`the program ${place}: ${named} exports no function '${name}'`);
    }
    return program as PulumiFn;
}

/** Loads the functions of all stacks of a plan: with the first stack there is no time for that. */
export async function loadPrograms(root: string, stacks: readonly StackSpec[]): Promise<void> {
    const places = new Set(stacks.filter((it) => it.inline && it.language === "nodejs").map((it) => it.program));
    for (const place of places) {
        // One that cannot be loaded is told of by its stacks.
        await loadProgram(root, place).catch(() => {});
    }
}

function split(place: string): [name: string, file: string] {
    const at = place.lastIndexOf("#");
    return [place.slice(at + 1), place.slice(0, Math.max(at, 0))];
}
