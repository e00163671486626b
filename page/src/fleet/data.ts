// What the page of a fleet's run shows: the contract between the engine, which writes this as JSON, and the page, which reads it.
//
// Every member that may be absent means "none" then. Texts are data of users: never markup. Nothing in here is a secret.

/** The whole document. */
export interface FleetData {
    /** Tells it from the page of a stack. */
    page: "fleet";
    format: 1;
    /** The version of maloko that wrote it. */
    maloko: string;
    /** When it was written: RFC 3339 in UTC. */
    written: string;
    run: string;
    fleet: string;
    /** `up`, `preview`, `refresh`, `destroy`... */
    verb: string;
    /** `stopping`: nothing begins any more, what is running goes on. */
    state: "running" | "paused" | "stopping" | "ended";
    /** Once it has ended. */
    outcome?: "done" | "failed" | "cancelled";
    /** Why nothing begins any more. */
    stopped?: string;
    /** Seconds since 1970. */
    began: number;
    /** How long it has taken, in seconds. */
    seconds: number;
    /** The wave that goes on, from 1. */
    wave: number;
    waves: number;
    /** How many stacks stand where. */
    counts: { [name in Standing]: number };
    stacks: FleetStack[];
    /** In the order in which they ended. */
    ends: StackEnd[];
    /** What goes on. It may be a part of it alone: `counts` has how much it is. */
    atWork: AtWork[];
}

/** Where a stack of the run stands. */
export type Standing = StackEnd["outcome"] | "running" | "retrying" | "waiting";

export interface FleetStack {
    /** `PROJECT/STACK`. */
    id: string;
    labels?: { [label: string]: string };
    /** The stacks that have to be done before. */
    needs?: string[];
    /** From 0. */
    wave: number;
    /** The task queue: which workers take it. */
    queue?: string;
}

/** What came of a stack. */
export interface StackEnd {
    id: string;
    outcome: "done" | "unchanged" | "failed" | "skipped" | "cancelled";
    /** Resources by operation. */
    changes?: { [op: string]: number };
    /** The kind of failure, such as `provider`; `needs` and `stopped` of what was skipped. */
    reason?: string;
    /** What is said about it. */
    text?: string;
    /** The resource that failed first. */
    urn?: string;
    /** The method of its provider that failed. */
    method?: string;
    /** The stack that its program asked for, and that was not there. */
    needs?: string;
    attempts: number;
    /** How long the last attempt took. */
    seconds: number;
    worker?: string;
}

export interface AtWork {
    id: string;
    /** How far it has come, or what it waits for. */
    text?: string;
    worker?: string;
    attempt: number;
    /** What came before, such as why there was another attempt. */
    note?: string;
    /** It waits for its next attempt. */
    retrying?: true;
}
