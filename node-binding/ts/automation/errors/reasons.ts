// Why an operation did not do what was asked, as programs go on by it.

/**
 * The kinds of reasons for which a command fails: somebody else works on the stack (`locked`); the lock on it was lost
 * while the run went on (`lease-lost`); the backend cannot be reached, read or written (`backend`); a method of a provider failed
 * (`provider`), or its check refused what the program gives it (`inputs`); the program refers to a stack that does not exist (`needs`);
 * the program failed, or asks for what cannot be (`program`);
 * a mandatory policy was violated, or a pack failed (`policy`); the key of the secrets is missing or wrong (`key`); the state or journal
 * cannot be used (`damaged`); an argument, setting or file is wrong (`configuration`); there is no such stack (`no-stack`), or one of
 * that name already (`stack-exists`); the run does not do what its plan says (`plan`); a protected resource would be deleted
 * (`protected`); there were changes, and none were expected (`unexpected-changes`); it was stopped (`cancelled`); anything else (`other`).
 */
export type Reason =
    | "locked"
    | "lease-lost"
    | "backend"
    | "provider"
    | "needs"
    | "inputs"
    | "program"
    | "policy"
    | "key"
    | "damaged"
    | "configuration"
    | "no-stack"
    | "stack-exists"
    | "plan"
    | "protected"
    | "unexpected-changes"
    | "cancelled"
    | "other";

/** May the same command succeed when it is simply tried again? A `provider`'s failure may, or may not. */
export function mayPass(reason: Reason): boolean {
    return reason === "locked" || reason === "lease-lost" || reason === "backend";
}

/** Who works on a stack. What is not known is empty. */
export interface Holder {
    readonly user: string;
    readonly host: string;
    readonly pid: number;
    /** When it began, RFC 3339. */
    readonly since: string;
    /** The command that it runs. */
    readonly operation: string;
    /** The piece of work that it is an attempt at, where `MALOKO_ATTEMPT` says so. */
    readonly run: string | null;
    /** Which attempt. */
    readonly attempt: number | null;
}

/** Why a command failed. */
export interface Why {
    readonly reason: Reason;
    /** The first line of its message, without secrets; may be empty. */
    readonly text: string;
    readonly holder: Holder | null;
    /** Does the provider that failed say that it may pass? */
    readonly transient: boolean;
    /** Seconds to wait before it is tried again, where the provider says so. */
    readonly retryAfter: number | null;
    /** The stack that the program refers to and that does not exist, where that is the reason: `project/stack`. */
    readonly needs: string | null;
}
