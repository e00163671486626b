// What was thrown, as users want to read it: its own class and message, their own frames, and what caused it. Anything
// can be thrown, and reading it may throw again.

import { fileURLToPath } from "node:url";
import { toJsonText } from "../originals";
import { OWN_DIRECTORY } from "./own-files";

const MAX_CAUSES = 10;
const MAX_MEMBERS = 20;
const MAX_CAUSES_IN_A_LINE = 3;

/** The class and the message of what was thrown, in one or more lines without a stack. */
export function describe(thrown: unknown): string {
    try {
        if (isErrorLike(thrown)) {
            const message = withOwnCommand(String(thrown.message), thrown);
            const mistakes = syntaxErrors(message);
            if (mistakes.length > 0) {
                return mistakes.join("\n");
            }
            const name = className(thrown);
            return message === "" ? name : `${name}: ${message}`;
        }
        if (thrown === undefined || thrown === null) {
            return `${thrown} was thrown`;
        }
        return typeof thrown === "object" ? toJsonText(thrown) : String(thrown);
    } catch {
        return "something that cannot be shown was thrown";
    }
}

/** The same, with what caused it (`Error.cause`, the members of an `AggregateError`): three at most. */
export function describeWithCauses(thrown: unknown): string {
    const text = describe(thrown);
    try {
        const causes = causesOf(thrown, new Set()).filter((cause) => !text.includes(messageOf(cause)));
        // Whole texts: the engine finds a secret only where all of it is there.
        const told = [...new Set(causes.map(describe))].slice(0, MAX_CAUSES_IN_A_LINE);
        return told.length === 0 ? text : `${text} (caused by ${told.join("; ")})`;
    } catch {
        return text;
    }
}

function causesOf(thrown: unknown, seen: Set<unknown>): unknown[] {
    if (!isErrorLike(thrown) || seen.has(thrown) || seen.size >= MAX_CAUSES) {
        return [];
    }
    seen.add(thrown);
    try {
        const { cause, errors } = thrown as { cause?: unknown; errors?: unknown };
        const members: unknown[] = Array.isArray(errors) && thrown instanceof Error ? errors : [];
        // An object that is no error may be anything, such as a whole response.
        const found = [cause, ...members].filter((it) => isErrorLike(it) || (typeof it === "string" && it !== ""));
        return found.flatMap((it) => (seen.has(it) ? [] : [it, ...causesOf(it, seen)]));
    } catch {
        return [];
    }
}

/** The message alone, where the class says nothing to the reader. */
export function messageOf(thrown: unknown): string {
    try {
        const message = isErrorLike(thrown) ? withOwnCommand(String(thrown.message), thrown) : "";
        return message === "" ? describe(thrown) : message;
    } catch {
        return describe(thrown);
    }
}

/**
 * Where it was thrown and why: the frames of the user's own code, then the causes (`Error.cause`) and the members of an
 * `AggregateError` with theirs. Empty when there is nothing to tell.
 */
export function tracebackOf(thrown: unknown): string {
    try {
        return lines(thrown, new Set()).join("\n");
    } catch {
        // What lists and sets need may have been taken away.
        return "";
    }
}

/** Everything there is to say. */
export function textOf(thrown: unknown): string {
    const traceback = tracebackOf(thrown);
    return traceback === "" ? describe(thrown) : `${describe(thrown)}\n${traceback}`;
}

/** The same, with the place where it was thrown in the first line: `Error: no such room (FILE:LINE)`. */
export function describeWithPlace(thrown: unknown): string {
    return withPlace(describe(thrown), tracebackOf(thrown));
}

/** A text, in whose first line it says where an error was thrown, by the frames of a traceback. */
export function withPlace(text: string, traceback: string): string {
    const [first = "", ...others] = text.split("\n");
    const places = traceback.split("\n").flatMap((line) => placeIn(line) ?? []);
    // The innermost line of the user's own code, or of a package's where no frame is the user's.
    const place = places.find((it) => !/[\\/]node_modules[\\/]/.test(it)) ?? places[0];
    return [place === undefined ? first : `${first} (${place})`, ...others].join("\n");
}

// `FILE:LINE` of a line such as `    at program (file:///srv/rooms.mjs:53:11)`.
function placeIn(line: string): string | undefined {
    const [, file, number] = /^\s+at (?:async )?(?:.*? \()?(.+?):(\d+)(?::\d+)?\)?$/.exec(line) ?? [];
    if (file === undefined || file.includes("<anonymous>")) {
        return undefined;
    }
    return `${file.startsWith("file://") ? fileURLToPath(file) : file}:${number}`;
}

/** The message of an error, in which the SDK's advice on missing configuration names the command of maloko. */
export function withOwnCommand(message: string, thrown: unknown): string {
    const isMissing =
        (thrown as { __pulumiRunError?: unknown }).__pulumiRunError === true &&
        (thrown as { constructor?: { name?: unknown } }).constructor?.name === "ConfigMissingError";
    return isMissing ? message.replaceAll("`pulumi config set ", "`maloko config set ") : message;
}

function isErrorLike(thrown: unknown): thrown is { name?: unknown; message: unknown } {
    return typeof thrown === "object" && thrown !== null && "message" in thrown;
}

// `class QuotaExceeded extends Error {}` has the name `Error`, and its constructor the one that its author gave it.
function className(thrown: { name?: unknown }): string {
    const own = (thrown as { constructor?: { name?: unknown } }).constructor?.name;
    const name = typeof thrown.name === "string" && thrown.name !== "" ? thrown.name : "Error";
    return name === "Error" && typeof own === "string" && own !== "" && own !== "Object" ? own : name;
}

// What the TypeScript loader's compiler says of files that it cannot read: a heading, and a line for each mistake.
function syntaxErrors(message: string): string[] {
    if (!/^Transform failed with \d+ errors?:\n/.test(message)) {
        return [];
    }
    const mistakes = message.matchAll(/^(\S.*:\d+:\d+): ERROR: (.*)$/gm);
    return [...mistakes].map(([, place, what]) => `SyntaxError: ${what} (${place})`);
}

function lines(thrown: unknown, seen: Set<unknown>): string[] {
    if (typeof thrown !== "object" || thrown === null || seen.has(thrown) || seen.size >= MAX_CAUSES) {
        return [];
    }
    seen.add(thrown);
    try {
        const { stack, cause, errors } = thrown as { stack?: unknown; cause?: unknown; errors?: unknown };
        const all = typeof stack === "string" ? [...excerpt(stack), ...frames(stack)] : [];
        if (cause !== undefined && cause !== null) {
            all.push(`  caused by ${describe(cause)}`, ...lines(cause, seen));
        }
        if (Array.isArray(errors) && thrown instanceof Error) {
            for (const [index, member] of errors.slice(0, MAX_MEMBERS).entries()) {
                // Each member has causes of its own.
                const below = lines(member, new Set(seen)).map((line) => `  ${line}`);
                all.push(`  ${index + 1}. ${describe(member)}`, ...below);
            }
            if (errors.length > MAX_MEMBERS) {
                all.push(`  and ${errors.length - MAX_MEMBERS} more`);
            }
        }
        return all;
    } catch {
        return [];
    }
}

// A syntax error has no frames: its stack begins with the place and the line of the file.
function excerpt(stack: string): string[] {
    const found = /^(\S.*:\d+)\n(.*\n\s*\^+)\n/.exec(stack);
    return found === null ? [] : [`    at ${found[1]}`, ...(found[2] ?? "").split("\n").map((line) => `      ${line}`)];
}

function frames(stack: string): string[] {
    return stack.split("\n").filter((line) => /^\s+at /.test(line) && !isMachinery(line));
}

// Node's own frames, those of the SDK, of the TypeScript loader, and ours.
function isMachinery(frame: string): boolean {
    return (
        /[\s(](node:|.*[\\/](maloko[\\/]dist|@pulumi[\\/]pulumi|node_modules[\\/](tsx|esbuild))[\\/])/.test(frame) ||
        frame.includes(OWN_DIRECTORY) ||
        /^\s+at (async )?(Promise\.(all|allSettled|any) \(index \d+\)|new Promise \(<anonymous>\))$/.test(frame)
    );
}
