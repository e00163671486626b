// The terminal, for what reads from it in the middle of a run: questions, `readline`, synchronous reads of standard input.
// While the command line runs a program, printed output is captured and the display has the terminal. Here the places are
// found where somebody begins to read; for as long as that lasts the terminal is borrowed from the engine, which takes its
// live view away. Off a terminal nothing is touched.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import * as tty from "node:tty";
import { callStorage, type OwnCall } from "../current";
import type { Bridge } from "./bridge";

/** The call that has the terminal; `"program"` for what belongs to none. */
let holder: OwnCall | "program" | undefined;

/** Does the running code have the terminal, or the call that it is a part of? */
export function hasTerminal(call: OwnCall | undefined): boolean {
    return holder !== undefined && holder === (call ?? "program");
}

/** From now on, whatever reads from the terminal has it. `begun` writes out the lines that were begun, such as a question. */
export function lendToReaders(bridge: Bridge, begun: (call: OwnCall | undefined) => void): void {
    const { native } = bridge;
    if (!native.lendsTerminal()) {
        return;
    }
    const borrow = (): (() => void) | undefined => {
        if (!native.borrowTerminal()) {
            return undefined;
        }
        const before = holder;
        const call = callStorage.getStore();
        holder = call ?? "program";
        begun(call);
        return () => {
            holder = before;
            native.giveBackTerminal();
        };
    };
    lendToSynchronousReads(borrow);
    lendToStandardInput(borrow);
}

type Borrow = () => (() => void) | undefined;

function lendToSynchronousReads(borrow: Borrow): void {
    const mutable = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
    const reads = (name: string, isTerminal: (what: unknown) => boolean): void => {
        const original = mutable[name];
        if (original === undefined) {
            return;
        }
        const replacement = (...args: unknown[]): unknown => {
            const giveBack = isTerminal(args[0]) ? borrow() : undefined;
            try {
                return original(...args);
            } finally {
                giveBack?.();
            }
        };
        Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(original));
        mutable[name] = replacement;
    };
    const isTerminal = (descriptor: unknown): boolean => typeof descriptor === "number" && tty.isatty(descriptor);
    reads("readSync", isTerminal);
    reads("readFileSync", (file) => isTerminal(file) || file === "/dev/stdin" || file === "/dev/tty");
    syncBuiltinESMExports();
}

/** What Node calls to begin and to end reading from a stream. */
interface Handle {
    readStart?: (...args: unknown[]) => unknown;
    readStop?: (...args: unknown[]) => unknown;
}

// `process.stdin` is made when it is first asked for, and reads only when somebody listens.
function lendToStandardInput(borrow: Borrow): void {
    const property = Object.getOwnPropertyDescriptor(process, "stdin");
    const make = property?.get;
    if (make === undefined) {
        return;
    }
    const served = new WeakSet<object>();
    Object.defineProperty(process, "stdin", {
        ...property,
        get() {
            const stdin = make.call(process) as tty.ReadStream;
            if (stdin.isTTY && !served.has(stdin)) {
                served.add(stdin);
                serve(stdin, borrow);
            }
            return stdin;
        },
    });
}

function serve(stdin: tty.ReadStream, borrow: Borrow): void {
    const handle = (stdin as unknown as { _handle?: Handle | null })._handle;
    const { readStart, readStop } = handle ?? {};
    if (handle === undefined || handle === null || readStart === undefined || readStop === undefined) {
        return;
    }
    let giveBack: (() => void) | undefined;
    const end = (): void => {
        giveBack?.();
        giveBack = undefined;
    };
    handle.readStart = (...args) => {
        giveBack ??= borrow();
        return readStart.apply(handle, args);
    };
    handle.readStop = (...args) => {
        end();
        return readStop.apply(handle, args);
    };
    stdin.once("close", end);
}
