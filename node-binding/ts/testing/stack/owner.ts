// Whom a stack belongs to: the kit of its test, as far as a stack has to know it.
import type { Ledger } from "./ledger";
import type { Report } from "./operate";
import type { CrashPlan } from "./points";

/** What a stack asks of its kit, and tells it; `Kit` explains the members. */
export interface Owner {
    readonly info: { readonly replay: string; readonly alive?: boolean };
    check(what: string): void;
    track(operation: Promise<unknown>, label: string): void;
    ledger(project: string, stack: string, plugins: "stubs" | "real"): Ledger;
    sweep(): Promise<void>;
    crashOf(stack: object): Omit<CrashPlan, "stack"> | undefined;
    crashed(): void;
    ran(report: Report): void;
}
