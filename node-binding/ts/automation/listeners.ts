// Collects what a command writes, and hands it to the caller's own functions.
import { StringDecoder } from "node:string_decoder";
import type { EngineEvent } from "@pulumi/pulumi/automation";
import { commandError } from "./errors";
import type { Progress } from "./progress";
import type { CommandRequest, Outcome } from "./request";
import { CommandResult } from "./result";

/** The exit code of a command that was stopped. */
const CANCELLED = 8;

/** Everything that one command writes. */
export class Listeners {
    readonly #texts = { out: "", err: "" };
    readonly #decoders = { out: new StringDecoder("utf8"), err: new StringDecoder("utf8") };
    readonly #toldErrors = new Set<string>();
    #failure: { thrown: unknown } | undefined;

    constructor(private readonly request: CommandRequest) {}

    /** Bytes, which may end in the middle of a character. */
    written(stream: "out" | "err", bytes: Uint8Array): void {
        this.#tell(stream, this.#decoders[stream].write(Buffer.from(bytes)));
    }

    event(event: EngineEvent): void {
        const { onEvent, onPrinted } = this.request;
        const { diagnosticEvent: told } = event;
        this.#protect(() => onEvent?.(event));
        if (onPrinted !== undefined && told !== undefined && this.#isForPrinted(told)) {
            this.#protect(() => onPrinted(told.message));
        }
    }

    #isForPrinted({ ephemeral, severity, message }: NonNullable<EngineEvent["diagnosticEvent"]>): boolean {
        if (ephemeral === true) {
            return false;
        }
        // Those of one line are told by how the operation ends.
        if (severity === "error" && message.includes("\n") && !this.#toldErrors.has(message)) {
            this.#toldErrors.add(message);
            return true;
        }
        return severity === "info";
    }

    progress(report: Progress): void {
        this.#protect(() => this.request.onProgress?.(report));
    }

    /**
     * The result; throws a `CommandError` for a command that failed, and what a function of the caller has thrown. `thrown`: what
     * the program or a provider threw.
     */
    finish(outcome: Outcome, thrown: { value: unknown } | undefined): CommandResult {
        for (const stream of ["out", "err"] as const) {
            this.#tell(stream, this.#decoders[stream].end());
        }
        const message = outcome.fault ?? outcome.message;
        if (message) {
            this.#tell("err", `error: ${message}\n`);
        }
        const { out, err } = this.#texts;
        const result = new CommandResult(
            out,
            err,
            outcome.code,
            outcome.operation ?? undefined,
            outcome.why ?? undefined,
        );
        const { signal, returnsFailures } = this.request;
        if (outcome.code !== 0 && returnsFailures !== true) {
            const stopped = signal?.aborted === true && outcome.code === CANCELLED;
            throw commandError(result, thrown ?? (stopped ? { value: signal.reason } : undefined));
        }
        if (this.#failure !== undefined) {
            throw this.#failure.thrown;
        }
        return result;
    }

    #tell(stream: "out" | "err", text: string): void {
        if (text !== "") {
            this.#texts[stream] += text;
            this.#protect(() => (stream === "out" ? this.request.onOutput : this.request.onError)?.(text));
        }
    }

    // The operation goes on to its end, whatever the caller's own function does; the first error is theirs after it.
    #protect(action: () => void): void {
        try {
            action();
        } catch (thrown) {
            this.#failure ??= { thrown };
        }
    }
}
