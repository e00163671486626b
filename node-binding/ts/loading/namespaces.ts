// What an import in TypeScript names, in a program that becomes CommonJS: what the module exports, as the compiler of TypeScript has
// it, and no copy. A copy cannot be called where a module exports a function. The serialiser of closures does not recognise it
// as a module, and writes down a whole SDK in its place.

// As esbuild writes it, with and without blanks.
const COPY = /\bvar ([\w$]+) ?= ?__toESM\((require\("(?:[^"\\]|\\.)*"\))\)/g;

// The end of the function that the loader puts CommonJS into.
const END = /(?<=\n)\}\)\(\)\s*(?:\/\/#[^\n]*\s*)?$/;

// What stands for `__toESM`, under names as long as that. Modules that were ES modules name their `default` themselves.
const HELPERS = {
    __toDef: "function __toDef(m){return m&&m.__esModule?m:{default:m}}",
    __toOwn: "function __toOwn(m){return m&&m.__esModule?m:__toESM(m)}",
};

/** Compiled code whose imports are the modules themselves; every position stays what it was. */
export function withoutCopies(source: string): string {
    if (!source.includes("__toESM(require(")) {
        return source;
    }
    const helpers = new Set<keyof typeof HELPERS>();
    const changed = source.replace(COPY, (copied: string, name: string, required: string) => {
        const kind = helperFor(source, name.replaceAll("$", "\\$"));
        if (kind === undefined) {
            return `var ${name}=${required}`.padEnd(copied.length);
        }
        helpers.add(kind);
        return copied.replace("__toESM", kind);
    });
    const text = [...helpers].map((it) => HELPERS[it]).join("");
    // Functions are there from the beginning, wherever they stand. No line moves.
    const place = END.exec(changed)?.index;
    return place === undefined ? `${changed}\n${text}` : `${changed.slice(0, place)}${text}${changed.slice(place)}`;
}

// Only a copy has a `default` in any case; what the file exports, others may ask for it.
function helperFor(source: string, word: string): keyof typeof HELPERS | undefined {
    const count = (rest: string): number => source.match(new RegExp(`(?<![\\w$.])${word}${rest}`, "g"))?.length ?? 0;
    const defaults = count("\\.default\\b");
    const all = count("(?![\\w$])");
    if (new RegExp(`: ?\\(\\) ?=> ?${word}(?![\\w$.])`).test(source)) {
        return "__toOwn";
    }
    // One of all is the variable itself.
    return defaults === 0 ? undefined : defaults === all - 1 ? "__toDef" : "__toOwn";
}
