// What comes of a stack, as programs go on by it.
import { mayPass, type Reason } from "../automation/errors/reasons";
import { isSuccess, type Outcome, type StackEnd } from "./wire";

/** A fleet cannot be driven as it was asked for, or stacks of its run failed. */
export class FleetError extends Error {
    override readonly name = "FleetError";
    // Shown by its message alone.
    readonly plain = true;
}

/** @internal What is wrong with arguments or files: the fleet's file cannot be used, or what is asked for of it. */
export class ConfigurationError extends FleetError {}

/** @internal A run says nothing of itself for now; asked again, it may. */
export class NoAnswerError extends FleetError {
    /** `isStuck`: whether a worker has taken it up and cannot go on. */
    constructor(run: string, isStuck = false) {
        super(
            isStuck
                ? `run ${run} does not answer: its worker cannot go on with it. A worker with another MALOKO_FLEET_KEY ` +
                      "cannot read it: start one with the key that the run was begun with"
                : `run ${run} does not answer: no worker serves the runs of its fleet just now, or the server is away. ` +
                      "`maloko fleet worker` starts a worker",
        );
    }
}

/**
 * @internal What the server keeps of a run is encrypted with another key than this process has. `why`: what is wrong with the key,
 * and what to do.
 */
export class UnreadableError extends FleetError {
    constructor(
        private readonly why: string,
        run?: string,
    ) {
        super(`${run === undefined ? "the run" : `run ${run}`} is encrypted${why}`);
    }

    /** The same with the name of the run. */
    of(run: string): UnreadableError {
        return new UnreadableError(this.why, run);
    }
}

/** How a stack of a run ended. */
export class End {
    /** `PROJECT/STACK`. */
    readonly stack: string;
    /** `done`, `unchanged` (nothing had to be done), `failed`, `skipped` or `cancelled`. */
    readonly outcome: Outcome;
    /** Resources by what was done to them; in a preview, by what would be. */
    readonly changes: Record<string, number>;
    /** The kind of failure, as `CommandError.reason` has it; `needs` or `stopped` for what was skipped; else empty. */
    readonly reason: Reason | "needs" | "stopped" | "";
    /** One line about it, without secrets. */
    readonly text: string;
    /** The resource that failed first. */
    readonly urn: string | undefined;
    /** The provider's method that failed. */
    readonly method: string | undefined;
    /** Seconds that the provider asks to wait. */
    readonly retryAfter: number | undefined;
    /** The stack that it refers to and that is not there. */
    readonly needs: string | undefined;
    /** The other stacks that its program has read, each `PROJECT/STACK`. */
    readonly read: string[];
    /** The first warnings of its last operation, in a line each, without secrets. */
    readonly warnings: string[];
    /** Of a preview or a look for drift, the first differences, in a line each, without secrets. */
    readonly differences: string[];
    /** How often it was begun. */
    readonly attempts: number;
    /** How long the last attempt took. */
    readonly seconds: number;
    /** Who worked on it last. */
    readonly worker: string;
    /** The stack's outputs, where they were asked for. */
    readonly outputs: Record<string, unknown> | undefined;

    /** @internal By what another process tells. */
    constructor(told: StackEnd) {
        this.stack = told.id;
        this.outcome = told.outcome;
        this.changes = told.changes;
        this.reason = told.reason as End["reason"];
        this.text = told.text;
        this.urn = told.urn ?? undefined;
        this.method = told.method ?? undefined;
        this.retryAfter = told.retryAfter ?? undefined;
        this.needs = told.needs ?? undefined;
        this.read = told.read ?? [];
        this.warnings = told.warnings ?? [];
        this.differences = told.differences ?? [];
        this.attempts = told.attempts;
        this.seconds = told.seconds;
        this.worker = told.worker ?? "";
        this.outputs = told.outputs;
    }

    /** Is the stack as it was asked for? */
    get succeeded(): boolean {
        return isSuccess(this.outcome);
    }

    /** May the same succeed when it is simply tried again? Engines other than Temporal go by this. */
    get mayPass(): boolean {
        return this.outcome === "failed" && mayPass(this.reason as Reason);
    }

    /** @internal The same for another process; what is not known is left out. */
    wire(): StackEnd {
        const { urn, method, retryAfter, needs, read, warnings, differences, worker, outputs } = this;
        return {
            id: this.stack,
            outcome: this.outcome,
            changes: this.changes,
            reason: this.reason,
            text: this.text,
            attempts: this.attempts,
            seconds: Math.round(this.seconds * 1000) / 1000,
            ...(urn === undefined ? {} : { urn }),
            ...(method === undefined ? {} : { method }),
            ...(retryAfter === undefined ? {} : { retryAfter }),
            ...(needs === undefined ? {} : { needs }),
            ...(read.length === 0 ? {} : { read }),
            ...(warnings.length === 0 ? {} : { warnings }),
            ...(differences.length === 0 ? {} : { differences }),
            ...(worker === "" ? {} : { worker }),
            ...(outputs === undefined ? {} : { outputs }),
        };
    }
}
