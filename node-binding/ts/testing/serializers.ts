// Snapshots of plans, calls and states that are the same in every run: `expect.addSnapshotSerializer`.
import * as os from "node:os";
import { inspect } from "node:util";
import { redactedValues } from "./redaction";
import { HIDDEN } from "./values";

/** What jest and vitest call a serialiser. */
export interface SnapshotSerializer {
    test(value: unknown): boolean;
    serialize(
        value: unknown,
        config: unknown,
        indentation: string,
        depth: number,
        refs: unknown[],
        // Each runner has a type of its own for what is only handed on.
        printer: (value: unknown, config: never, indentation: string, depth: number, refs: never) => string,
    ): string;
}

// The values, each with what tells the secrets in it.
const marked = new WeakMap<object, () => string[]>();

/** Has snapshots of a value show what changes from run to run as `[time]`, `[id]` and the like. Gives the value. */
export function forSnapshots<T extends object>(value: T): T {
    return withoutSecrets(value, () => []);
}

/** The same for a value in which these secrets are in plain text: snapshots of it show them as `[secret]`. */
export function withoutSecrets<T extends object>(value: T, secrets: () => string[]): T {
    marked.set(value, secrets);
    return value;
}

/** Writes what the kit returns, and what {@link forSnapshots} was given, with the parts that vary put into brackets. */
export const snapshotSerializer: SnapshotSerializer = {
    test: (value) => value !== null && typeof value === "object" && marked.has(value),
    serialize: (value, config, indentation, depth, refs, printer) =>
        printer(shown(value as object), config as never, indentation, depth, refs as never),
};

function shown(value: object): unknown {
    const secrets = marked.get(value)?.() ?? [];
    // Before ids and times are put into brackets, which may hold a part of a secret.
    return normalized(
        redactedValues(
            value,
            secrets.map((secret) => [secret, HIDDEN]),
        ),
    );
}

const VARIABLE: [RegExp, string][] = [
    [/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?/g, "[time]"],
    [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "[uuid]"],
    [/\b[0-9a-f]{32,64}\b/gi, "[hex]"],
];
const IDS = new Set(["id", "ids", "operationKey"]);
const TIMES = new Set(["created", "modified", "durationMs"]);

/** A copy of plain data in which ids, times, temporary paths and the like are put into brackets. */
export function normalized(value: unknown, key = "", parents: object[] = []): unknown {
    if (typeof value === "string") {
        return IDS.has(key) && value !== "" ? "[id]" : TIMES.has(key) ? "[time]" : textOf(value);
    }
    if (typeof value === "number") {
        return TIMES.has(key) ? "[time]" : value;
    }
    if (value === null || typeof value !== "object") {
        return value;
    }
    if (parents.includes(value)) {
        return "[circular]";
    }
    const inside = [...parents, value];
    if (Array.isArray(value)) {
        return value.map((item) => normalized(item, key, inside));
    }
    const tag = Object.prototype.toString.call(value);
    if (tag !== "[object Object]") {
        return tag === "[object Date]" ? "[time]" : textOf(inspect(value));
    }
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, normalized(member, name, inside)]));
}

// The folder below the temporary one has a name of this run; the rest of the path is the program's.
const TEMPORARY = new RegExp(`${os.tmpdir().replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}[\\\\/][^\\\\/\\s"')]+`, "g");

function textOf(text: string): string {
    const plain = text.replace(TEMPORARY, "[tmp]");
    return VARIABLE.reduce((result, [pattern, name]) => result.replace(pattern, name), plain);
}
