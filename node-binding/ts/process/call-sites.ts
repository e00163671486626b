// Where the running code was called.

/** The frames below a function that is running: at most `most`, the nearest first. */
export function callSites(below: (...args: never[]) => unknown, most: number): NodeJS.CallSite[] {
    const { prepareStackTrace, stackTraceLimit } = Error;
    const holder: { stack?: unknown } = {};
    try {
        Error.stackTraceLimit = most;
        Error.prepareStackTrace = (_error, sites) => sites;
        Error.captureStackTrace(holder, below);
        return holder.stack as NodeJS.CallSite[];
    } finally {
        Error.prepareStackTrace = prepareStackTrace;
        Error.stackTraceLimit = stackTraceLimit;
    }
}
