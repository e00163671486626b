// What does nothing says so, once per process, as Node does with what is deprecated.

const said = new Set<string>();

/** Warns with a code that `--disable-warning` takes. */
export function warnOnce(message: string, code: string): void {
    if (!said.has(message)) {
        said.add(message);
        process.emitWarning(message, { code });
    }
}
