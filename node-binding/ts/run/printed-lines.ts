// What is written to stdout and stderr, taken line by line in the place of the streams.
import { Buffer } from "node:buffer";
import { callStorage, type OwnCall } from "../current";

/** What a stream is written by. */
export type Write = (text: string) => unknown;

/** A lone carriage return ends a line too: progress bars write one. */
export const LINE_ENDS = /\r\n|\n|\r/;

/** Cuts what is written into lines, for each call and each stream; empty ones count for nothing. */
export class PrintedLines {
    // By call, and for the program: the lines that are not complete yet.
    readonly #begun = new Map<OwnCall | undefined, Map<Write, string>>();

    /** `say`: takes a line, and what its stream was written by before. */
    constructor(private readonly say: (line: string, to: Write) => void) {}

    readonly take = (text: string, to: Write): void => {
        const call = callStorage.getStore();
        const begun = this.#begun.get(call) ?? new Map<Write, string>();
        this.#begun.set(call, begun);
        const lines = ((begun.get(to) ?? "") + text).split(LINE_ENDS);
        begun.set(to, lines.pop() ?? "");
        for (const line of lines) {
            this.#say(line, to);
        }
    };

    /** Takes the lines that a call, or the program, has begun: it has ended. */
    endOf(call: OwnCall | undefined): void {
        const begun = this.#begun.get(call) ?? [];
        this.#begun.delete(call);
        for (const [to, line] of begun) {
            this.#say(line, to);
        }
    }

    /** Takes all lines that were begun: nothing follows. */
    end(): void {
        for (const call of [...this.#begun.keys()]) {
            this.endOf(call);
        }
    }

    #say(line: string, to: Write): void {
        if (line.trim() !== "") {
            this.say(line, to);
        }
    }
}

/** A run that takes printed lines: it takes the secrets out, and tells them as events. */
export interface PrintingRun {
    /** Who cuts the lines, and is told when a call or the program ends. */
    lines: PrintedLines | undefined;
    /** Takes a line; answers whether there is an engine for it. */
    print(line: string): boolean;
}

/**
 * Takes what is written to a stream, for the rest of the process. `taker`: gives who takes what the running code writes; where
 * nobody does, the stream has it. Gives what the stream was written by.
 */
export function takeWrites(
    stream: NodeJS.WriteStream,
    taker: () => ((text: string, to: Write) => void) | undefined,
): Write {
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = ((chunk: unknown, ...rest: unknown[]): boolean => {
        const take = taker();
        if (take === undefined) {
            return write(chunk, ...rest);
        }
        take(typeof chunk === "string" ? chunk : Buffer.from(chunk as Uint8Array).toString("utf8"), write);
        const done = rest.find((it) => typeof it === "function") as (() => void) | undefined;
        if (done !== undefined) {
            process.nextTick(done);
        }
        return true;
    }) as typeof stream.write;
    return write;
}
