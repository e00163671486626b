// What a test runner shows of an error: its message, and the lines of the test before those of anybody else.
import * as path from "node:path";

// The package's own modules, as they stand in a stack.
const OWN = path.dirname(__dirname) + path.sep;

/**
 * The members of an error that a runner shows by itself. vitest dumps all others: whatever an error of the kit has for programs
 * is in its message in words.
 */
export function shownByRunners({ name, message, stack, cause }: Error): object {
    return { name, message, stack, ...(cause === undefined ? {} : { cause }) };
}

/** The place from which the kit is called: the lines of the author's own files, none where a runner calls it. */
export function callersFrames(): string[] {
    const { stack = "" } = new Error();
    return framesOf(stack).filter((it) => isForeign(it) && !/[\\/]node_modules[\\/]|\bnode:/.test(it));
}

// By the error: one that was thrown again keeps the first place.
const placed = new WeakSet<Error>();

/**
 * Has the stack of an error begin with the place from which a test called the kit, where one did; then come the error's own frames,
 * without those of the kit. What is no error, or cannot be changed, stays as it is.
 */
export function placeAt(thrown: unknown, frames: readonly string[]): void {
    if (!(thrown instanceof Error) || placed.has(thrown) || typeof thrown.stack !== "string") {
        return;
    }
    placed.add(thrown);
    const own = framesOf(thrown.stack).filter((it) => isForeign(it) && !frames.includes(it));
    const stack = [`${thrown.name}: ${thrown.message}`, ...frames, ...own].join("\n");
    Reflect.defineProperty(thrown, "stack", { value: stack, configurable: true, writable: true });
}

function framesOf(stack: string): string[] {
    return stack.split("\n").filter((line) => /^\s+at /.test(line));
}

function isForeign(frame: string): boolean {
    return !frame.includes(OWN);
}
