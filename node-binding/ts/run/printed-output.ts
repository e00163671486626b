// Printed output of provider methods, told line by line on the resource in whose call it was printed. What arrives at the file
// descriptors is captured as well, but nobody can tell whose it is when several calls run at a time.

import { callStorage, type OwnCall } from "../current";
import { OwnMap, OwnWeakSet } from "../originals";
import type { Bridge } from "./bridge";
import { LINE_ENDS, takeWrites, type Write } from "./printed-lines";
import { hasTerminal } from "./terminal";

/** The severity of printed output. */
export const PRINTED = 4;

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
const writes: Write[] = [];

/** From now on, what provider code prints is told on the resource of the call, for the rest of the process. */
export function attributeOutput(bridge: Bridge): void {
    for (const stream of [process.stdout, process.stderr]) {
        const output = new CallOutput(bridge);
        outputs.push(output);
        const write = takeWrites(stream, () => {
            const call = callStorage.getStore();
            return call === undefined || hasTerminal(call) ? undefined : (text) => output.write(call, text);
        });
        writes.push(write);
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
