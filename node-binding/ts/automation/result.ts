// What a command of the command line wrote, and how it ended.
import type { OperationEnd } from "./outcome";

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
    ) {}

    /** In the form of the official API, which programs look for messages in. */
    toString(): string {
        return `code: ${this.code}\n stdout: ${this.stdout}\n stderr: ${this.stderr}\n err?: \n`;
    }
}
