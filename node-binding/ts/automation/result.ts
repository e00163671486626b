// What a command of the command line wrote, how it ended, and the page of its run.
import { loadAddon } from "../native";
import type { Why } from "./errors/reasons";
import type { OperationEnd } from "./request";

/** The end of a command. */
export class CommandResult {
    constructor(
        /** All that was written on stdout. */
        readonly stdout: string,
        /** All that was written on stderr. */
        readonly stderr: string,
        /** The exit code. */
        readonly code: number,
        /** @internal The outcome of the operation, if the command was one. */
        readonly operation: OperationEnd | undefined = undefined,
        /** @internal Why it failed; undefined where it did not, or where nothing is known but its exit code. */
        readonly why: Why | undefined = undefined,
    ) {}

    /** In the form of the official API, which programs look for messages in. */
    toString(): string {
        return `code: ${this.code}\n stdout: ${this.stdout}\n stderr: ${this.stderr}\n err?: \n`;
    }
}

/** An option of operations that are summed up, beside the official ones. */
export interface SummaryOptions {
    /** `false`: the result has no summary (it is undefined), which saves a command. */
    summary?: boolean;
}

/** Options of `up` beside the official ones. */
export interface OutputsOptions extends SummaryOptions {
    /** `false`: the result has no outputs (`{}`), which saves a command. */
    outputs?: boolean;
}

/** An option of operations beside the official ones. */
export interface PageOptions {
    /** A file that shows the run in a browser, while it goes on and afterwards (`page()` of the result gives it, too). */
    page?: string;
}

/** A result that has the page of its run, and what the run did. */
export type WithPage<Result> = Result & {
    /**
     * The page of this run, as HTML: what it did and in which order, why it was slow, because of what something is replaced. It has
     * no secrets, and opens in a browser without any request. Of a large run it shows less; the option `page` of the operation
     * writes all of it to a file. Throws when nothing was kept of the run: it was too large, or a command of the caller's own
     * ran it.
     */
    page(): string;
    /** The number of resources by what was done to them, as the summary has it, which need not be asked for. */
    readonly changes: Record<string, number>;
};

/** The result of an operation, with its page and its changes. */
export function withPage<Result extends object>(result: Result, { operation }: CommandResult): WithPage<Result> {
    const record = operation?.page ?? undefined;
    const page = (): string => {
        if (record === undefined) {
            throw new Error(
                "nothing was kept of the run for its page: it is too large, or a command of your own has run it; give the " +
                    "operation `page`, a file to write it to",
            );
        }
        return loadAddon().pageOfRecord(record);
    };
    // Not among the members that results are shown and compared by.
    Object.defineProperty(result, "page", { value: page, configurable: true });
    Object.defineProperty(result, "changes", { value: operation?.changes ?? {}, configurable: true });
    return result as WithPage<Result>;
}
