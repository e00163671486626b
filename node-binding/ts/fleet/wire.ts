// What a run of a fleet passes between processes and languages: JSON, with the names that both languages use.

/** How a stack of a run ended. `unchanged`: nothing had to be done. */
export type Outcome = "done" | "unchanged" | "failed" | "skipped" | "cancelled";

/** Where a worker reads a value that is secret. */
export interface Secret {
    secretFrom: { env: string } | { file: string };
}

/** A stack of a run, as the plan has it. */
export interface StackSpec {
    /** `PROJECT/STACK`. */
    id: string;
    project: string;
    stack: string;
    /** Relative to the directory of the fleet: a directory, or `FILE:NAME` (Python) or `FILE#NAME` (Node). */
    program: string;
    inline: boolean;
    language: string;
    labels: Record<string, string>;
    config: Record<string, string | Secret>;
    needs: string[];
    wave: number;
    queue: string;
}

/** A part of a run that begins when the one before has ended. */
export interface Wave {
    name: string;
    /** Seconds before it begins. */
    pause: number;
    /** The run stops here when so many stacks have failed. */
    unlessFailed: number | null;
}

/** How much may go on at a time. */
export interface Limits {
    atATime: number | null;
    /** By label: so many stacks at a time with the same value of it. */
    each: Record<string, number>;
    startsPerSecond: Record<string, number>;
}

/** What is tried again when a provider fails; waits are seconds. */
export interface Retry {
    provider: number;
    firstWait: number;
    longestWait: number;
}

/** The server; what is not said is left to Temporal's own variables and profiles. */
export interface Engine {
    address: string;
    namespace: string;
}

/** A fleet, as those know it who need no plan. */
export interface Place {
    name: string;
    engine: Engine | null;
}

/** How much of each stack's past is kept; `null`: as the worker's environment says. */
export interface Keep {
    history: number | null;
    generations: number | null;
}

/** A run that begins by itself; times are seconds. */
export interface Schedule {
    every: number;
    jitter: number;
    verb: string;
    previewOnly: boolean;
    select: string[];
}

/** A run, as the fleet's file says it. */
export interface Plan {
    fleet: string;
    verb: string;
    hash: string;
    directory: string;
    engine: Engine | null;
    backend: string | null;
    key: string;
    code: Record<string, string>;
    stacks: StackSpec[];
    waves: Wave[];
    limits: Limits;
    retry: Retry;
    stopAfter: number | null;
    heartbeat: number;
    deadline: number;
    keep: Keep;
    schedules: Record<string, Schedule>;
    /** What to know before the run begins, in a line each. */
    warnings?: string[];
}

/** What came of a stack. */
export interface StackEnd {
    id: string;
    outcome: Outcome;
    changes: Record<string, number>;
    /** The kind of failure (`Reason` of the automation API), or `needs` or `stopped` for what was skipped; else empty. */
    reason: string;
    /** One line, without secrets. */
    text: string;
    attempts: number;
    seconds: number;
    /** The resource that failed first. */
    urn?: string | null;
    /** The provider's method that failed. */
    method?: string | null;
    /** Seconds that the provider asks to wait. */
    retryAfter?: number | null;
    /** The stack that it refers to and that is not there: `project/stack`. */
    needs?: string | null;
    /** The other stacks that its program has read: `project/stack`. */
    read?: string[];
    /** The first warnings of its last operation, in a line each, without secrets. */
    warnings?: string[];
    /** Of a preview or a look for drift, the first differences, in a line each, without secrets. */
    differences?: string[];
    worker?: string;
    outputs?: Record<string, unknown>;
}

/** A stack that waits until a time. */
export interface Later {
    id: string;
    at: number;
}

/** When the next stack with a value of a label may begin. */
export interface NextStart {
    label: string;
    value: string;
    at: number;
}

/** Where a run stands between two of its executions, when nothing is running. */
export interface CourseState {
    ends: StackEnd[];
    tries: Record<string, number>;
    /** Those that a provider failed for. */
    later: Later[];
    /** Those whose start a rate has put off. */
    turns: Later[];
    /** What a stack was found to need, the last one last. */
    awaits: Record<string, string[]>;
    /** What the earlier starts of a stack have changed. */
    changes: Record<string, Record<string, number>>;
    /** Stacks whose first start was given up with its batch. */
    givenUp: string[];
    nextStarts: NextStart[];
    wave: number;
    waveBegins: number;
    paused: boolean;
    stopped: string;
}

/** What a run does beside its verb. */
export interface RunOptions {
    previewOnly: boolean;
    outputs: boolean;
    message: string;
    /** Where what a stack takes over is listed, such as `imports/{stack}.json`; empty for other verbs. */
    importFile: string;
}

/** The input of a run's workflow. */
export interface Order {
    plan: Plan;
    options: RunOptions;
    /** When the run began, seconds since 1970; 0: now. */
    began: number;
    state: CourseState | null;
}

/** What the activities of a run have in common. */
export interface Work {
    fleet: string;
    /** The same for all attempts at it. */
    run: string;
    verb: string;
    options: RunOptions;
    backend: string | null;
    key: string;
    keep: Keep;
    heartbeat: number;
}

/** The input of a stack's activity. */
export interface Launch extends Work {
    /** Rises with each start of the stack in this run, before the attempts of the activity itself. */
    number: number;
    stack: StackSpec;
}

/** The input of an activity for several stacks, of which none has begun before. */
export interface Batch extends Work {
    stacks: StackSpec[];
    /** After so long the worker begins no other one of them. */
    seconds: number;
}

/** What a worker made of a batch. Stacks of which nothing is said were not begun. */
export interface BatchEnd {
    /** Those of its first stacks. */
    ends: StackEnd[];
    /** What the one after those has changed, where it was begun and may succeed when it is begun again. */
    interrupted: Record<string, number> | null;
}

/** How many stacks are where. */
export type Counts = Record<Outcome | "running" | "retrying" | "waiting", number>;

/** What a run's workflow answers when it is asked how far it is. */
export interface ProgressAnswer {
    fleet: string;
    verb: string;
    began: number;
    now: number;
    wave: number;
    waves: number;
    stacks: number;
    counts: Counts;
    paused: boolean;
    stopped: string;
    /** Stacks that wait after a failure: until when, the number of the start that comes then, and what the last one came to. */
    retries: [id: string, at: number, number: number, text: string][];
    /** How often a stack is begun whose provider fails. */
    maxAttempts: number;
    failures: StackEnd[];
    failuresInAll: number;
}

/** What a run's workflow gives at its end. */
export interface RunEnd {
    fleet: string;
    verb: string;
    outcome: "done" | "failed" | "cancelled";
    stopped: string;
    seconds: number;
    counts: Counts;
    ends: StackEnd[];
    /** Runs of earlier versions do not say when they began, nor which waves they had. */
    began?: number;
    wave?: number;
    waves?: number;
}

/** Failures, and stacks that wait, that a run's workflow tells of when it is asked for its progress. */
export const SHOWN = 10;
/** The name of the workflow. */
export const RUN = "maloko.FleetRun";
/** The name of a stack's activity. */
export const STACK = "maloko.fleet.stack";
/** That of the activity for several. */
export const STACKS = "maloko.fleet.stacks";
/** Numbers between two starts of a stack: the attempts of one of them, which the server counts. */
export const ATTEMPTS_A_START = 10_000;

/** Is a stack that ended so as it was asked for? */
export function isSuccess(outcome: Outcome): boolean {
    return outcome === "done" || outcome === "unchanged";
}

/** The verb as users have it: a refresh that changes nothing is `drift`. */
export function verbOf({ verb }: Plan, { previewOnly }: RunOptions): string {
    return verb === "refresh" && previewOnly ? "drift" : verb;
}
