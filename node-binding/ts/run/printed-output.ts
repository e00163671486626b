// Printed output of provider methods, told line by line on the resource in whose call it was printed. What arrives at the file
// descriptors is captured as well, but nobody can tell whose it is when several calls run at a time.

import { Buffer } from "node:buffer";
import { callStorage, type OwnCall } from "../current";
import { OwnMap, OwnWeakSet } from "../originals";
import type { Bridge } from "./bridge";
import { hasTerminal } from "./terminal";

/** The severity of printed output. */
export const PRINTED = 4;
// A lone carriage return ends a line too: progress bars write one.
const LINE_ENDS = /\r\n|\n|\r/;

/** What the calls that go on have written to one stream. */
class CallOutput {
    // By call: the line that is not complete yet.
    readonly #begun = new OwnMap<OwnCall, string>();
    readonly #ended = new OwnWeakSet<OwnCall>();

    constructor(private readonly bridge: Bridge) {}

    write(call: OwnCall, text: string): void {
        const lines = ((this.#begun.get(call) ?? "") + text).split(LINE_ENDS);
        const rest = lines.pop() ?? "";
        for (const line of lines) {
            this.#tell(call, line);
        }
        if (this.#ended.has(call)) {
            this.#tell(call, rest);
        } else {
            this.#begun.set(call, rest);
        }
    }

    /** The line that the call has begun, which is told no more. */
    takeBegun(call: OwnCall): string {
        const begun = this.#begun.get(call) ?? "";
        this.#begun.delete(call);
        return begun;
    }

    end(call: OwnCall): void {
        this.#ended.add(call);
        this.#tell(call, this.#begun.get(call) ?? "");
        this.#begun.delete(call);
    }

    #tell({ engine, urn }: OwnCall, line: string): void {
        if (line.trim() !== "") {
            this.bridge.native.log(engine, urn, PRINTED, line);
        }
    }
}

const outputs: CallOutput[] = [];
const writes: ((text: string) => unknown)[] = [];

/** From now on, what provider code prints is told on the resource of the call, for the rest of the process. */
export function attributeOutput(bridge: Bridge): void {
    for (const stream of [process.stdout, process.stderr]) {
        const output = new CallOutput(bridge);
        outputs.push(output);
        const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
        writes.push(write);
        stream.write = ((chunk: unknown, ...rest: unknown[]): boolean => {
            const call = callStorage.getStore();
            if (call === undefined || hasTerminal(call)) {
                return write(chunk, ...rest);
            }
            output.write(call, typeof chunk === "string" ? chunk : Buffer.from(chunk as Uint8Array).toString("utf8"));
            const done = rest.find((it) => typeof it === "function") as (() => void) | undefined;
            if (done !== undefined) {
                process.nextTick(done);
            }
            return true;
        }) as typeof stream.write;
    }
}

/** Writes the lines that a call has begun to the terminal, which it has now. */
export function showBegun(call: OwnCall | undefined): void {
    for (const [index, output] of outputs.entries()) {
        const begun = call === undefined ? "" : output.takeBegun(call);
        if (begun !== "") {
            writes[index]?.(begun);
        }
    }
}

/** A call has ended: what it has begun to print is told. */
export function endOutput(call: OwnCall): void {
    try {
        for (const output of outputs) {
            output.end(call);
        }
    } catch {
        // What the call has made must not be lost over what it printed.
    }
}
