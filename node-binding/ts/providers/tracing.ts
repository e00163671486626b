// What provider code traces itself becomes a child of its call, where maloko traces the run, too.

type Context = object;

// Where every copy of `@opentelemetry/api` 1.x keeps what an SDK has registered. To load the program's copy would be to guess
// which one it is, and a bundled program has none that could be loaded.
interface OtelGlobals {
    context?: { active(): Context; with<T>(context: Context, action: () => T): T };
    propagation?: { extract(context: Context, carrier: Carrier, getter: typeof GETTER): Context };
}

type Carrier = Record<string, string>;

const REGISTERED = Symbol.for("opentelemetry.js.api.1");

const GETTER = {
    get: (carrier: Carrier, key: string): string | undefined => carrier[key],
    keys: (carrier: Carrier): string[] => Object.keys(carrier),
};

/** The W3C headers of a call; empty ones of a call that is not traced. */
export interface TraceContext {
    traceparent: string;
    tracestate: string;
}

/**
 * Does something so that spans are children of the call with this context. It is simply done where the call is not traced, or
 * the program has no OpenTelemetry.
 */
export function belowCall<T>(trace: TraceContext, action: () => T): T {
    const manager = trace.traceparent === "" ? undefined : registered()?.context;
    const below = manager === undefined ? undefined : contextOf(manager, trace);
    return manager === undefined || below === undefined ? action() : manager.with(below, action);
}

function contextOf(
    manager: NonNullable<OtelGlobals["context"]>,
    { traceparent, tracestate }: TraceContext,
): Context | undefined {
    const carrier: Carrier = tracestate === "" ? { traceparent } : { traceparent, tracestate };
    try {
        return registered()?.propagation?.extract(manager.active(), carrier, GETTER);
    } catch {
        // The program's propagator may be any.
        return undefined;
    }
}

function registered(): OtelGlobals | undefined {
    return (globalThis as unknown as Record<symbol, OtelGlobals | undefined>)[REGISTERED];
}
