// `import * as f from "x"` in TypeScript that becomes CommonJS: what it names is what the module exports, as the compiler
// of TypeScript has it, and no copy. A copy cannot be called where a module exports a function, and the serialiser of
// closures does not recognise it as a module.

// As esbuild writes it. What is imported in other ways has names that begin with `import_`, or is a member.
const COPY = /\bvar ([\w$]+)=__toESM\((require\("(?:[^"\\]|\\.)*"\))\)/g;

/** Compiled code whose namespaces are the modules themselves; every position stays what it was. */
export function withoutCopies(source: string): string {
    if (!source.includes("__toESM(require(")) {
        return source;
    }
    return source.replace(COPY, (copied: string, name: string, required: string) => {
        const word = name.replaceAll("$", "\\$");
        // Only the copy has a `default` in any case; what the file exports, others may ask for it.
        const isCopyNeeded = new RegExp(`(?<![\\w$.])${word}\\.default\\b|:\\(\\)=>${word}[,}]`).test(source);
        return isCopyNeeded ? copied : `var ${name}=${required}`.padEnd(copied.length);
    });
}
