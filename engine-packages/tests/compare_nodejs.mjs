// Compares the names of two SDKs for Node: the official generator's and ours, module by module.
//
//     node compare_nodejs.mjs OFFICIAL OURS [--exact] [--additional] [--exempt FILE]
//
// Both are folders of JavaScript with typing files, from which `@pulumi/pulumi` and `typescript` can be resolved.
// Each name that is missing is printed, and the process fails. `--exact` also compares the texts of types, which
// differ between versions of the official generator. `--additional` prints what we alone have. `--exempt` names a file
// with a regular expression a line: what they match may be missing, such as code that others write by hand.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";

const words = process.argv.slice(2);
const exempt = words
    .filter((word, at) => words[at - 1] === "--exempt")
    .flatMap(path => readFileSync(path, "utf8").split("\n"))
    .filter(line => line && !line.startsWith("#"))
    .map(line => new RegExp(line));
const isExact = words.includes("--exact");
const [official, ours] = words
    .filter((word, at) => !word.startsWith("--") && words[at - 1] !== "--exempt")
    .map(word => resolve(word));
const load = createRequire(join(official, "index.js"));

const files = (folder, ending) =>
    readdirSync(folder, { recursive: true })
        .filter(path => path.endsWith(ending) && !/(^|\/)(node_modules|scripts|tests)\//.test(path))
        .sort();

const missing = [];
const additional = [];
let compared = 0;

const isSpace = value => typeof value === "object" && value !== null && !Array.isArray(value);
const statics = value => Object.getOwnPropertyNames(value).filter(name => !["length", "name", "prototype"].includes(name));

// Names at run time: those of modules, of what is in them, of classes and of enumerations.
function values(place, theirs, mine, seen) {
    if (typeof theirs !== typeof mine) {
        missing.push(`${place}: ${typeof theirs}, and ours is ${typeof mine}`);
        return;
    }
    if (typeof theirs === "function" && /^class /.test(Function.prototype.toString.call(theirs))) {
        names(`${place} (statics)`, statics(theirs), statics(mine));
        names(`${place} (methods)`, statics(theirs.prototype), statics(mine.prototype));
        if (theirs.__pulumiType !== mine.__pulumiType) {
            missing.push(`${place}.__pulumiType: ${theirs.__pulumiType}, and ours is ${mine.__pulumiType}`);
        }
    } else if (isSpace(theirs) && !seen.has(theirs)) {
        seen.add(theirs);
        names(place, Object.keys(theirs), Object.keys(mine));
        for (const name of Object.keys(theirs).filter(name => name in mine)) {
            values(`${place}.${name}`, read(theirs, name), read(mine, name), seen);
        }
    } else if (!["function", "object"].includes(typeof theirs) && theirs !== mine) {
        missing.push(`${place}: ${theirs}, and ours is ${mine}`);
    }
}

// A getter of configuration may refuse what the environment says.
function read(module, name) {
    try {
        return module[name];
    } catch (error) {
        return `throws ${error.name}`;
    }
}

function names(place, theirs, mine) {
    compared += theirs.length;
    missing.push(...theirs.filter(name => !mine.includes(name)).map(name => `${place}: ${name}`));
    additional.push(...mine.filter(name => !theirs.includes(name)).map(name => `${place}: ${name}`));
}

for (const path of files(official, ".js")) {
    if (existsSync(join(ours, path))) {
        values(path, load(join(official, path)), load(join(ours, path)), new Set());
    } else {
        missing.push(`${path}: the whole module`);
    }
}

// Names in types: those of modules and namespaces, and the members of classes and interfaces.
const ts = load("typescript");
const typings = { official: files(official, ".d.ts"), ours: files(ours, ".d.ts") };
const program = ts.createProgram(
    [...typings.official.map(path => join(official, path)), ...typings.ours.map(path => join(ours, path))],
    { strict: true, module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16, skipLibCheck: true, noEmit: true, types: [] },
);
const checker = program.getTypeChecker();
const FLAGS = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias;

function exported(root, path) {
    const file = program.getSourceFile(join(root, path));
    const module = file && checker.getSymbolAtLocation(file);
    return module ? new Map(checker.getExportsOfModule(module).map(symbol => [symbol.name, target(symbol)])) : new Map();
}

const target = symbol => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);

function types(place, theirs, mine, seen) {
    names(`${place} (types)`, [...theirs.keys()].filter(name => !isEmptySpace(theirs.get(name))), [...mine.keys()]);
    for (const [name, symbol] of theirs) {
        const other = mine.get(name);
        if (!other || seen.has(symbol)) {
            continue;
        }
        seen.add(symbol);
        if (symbol.flags & ts.SymbolFlags.Module && !(symbol.flags & ts.SymbolFlags.ValueModule && symbol.valueDeclaration?.kind === ts.SyntaxKind.SourceFile)) {
            types(`${place} ${name}`, within(symbol), within(other), seen);
        }
        if (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) {
            members(`${place} ${name}`, checker.getDeclaredTypeOfSymbol(symbol), checker.getDeclaredTypeOfSymbol(other));
        }
        const isCode = ts.SymbolFlags.Function | ts.SymbolFlags.Class | ts.SymbolFlags.Variable;
        if (isExact && symbol.flags & isCode) {
            texts(`${place} ${name}`, checker.getTypeOfSymbol(symbol), checker.getTypeOfSymbol(other));
        }
    }
}

const within = symbol => new Map(checker.getExportsOfModule(symbol).map(inner => [inner.name, target(inner)]));
const isEmptySpace = symbol =>
    symbol.flags & ts.SymbolFlags.NamespaceModule && !(symbol.flags & ~ts.SymbolFlags.NamespaceModule) && [...within(symbol).values()].every(isEmptySpace);

function members(place, theirs, mine) {
    const own = type => new Map(type.getProperties().map(symbol => [symbol.name, symbol]));
    const [one, other] = [own(theirs), own(mine)];
    names(`${place} (members)`, [...one.keys()], [...other.keys()]);
    for (const [name, symbol] of one) {
        const twin = other.get(name);
        if (!twin) {
            continue;
        }
        if ((symbol.flags & ts.SymbolFlags.Optional) !== (twin.flags & ts.SymbolFlags.Optional)) {
            missing.push(`${place}.${name}: only one of the two is optional`);
        }
        if (isExact) {
            texts(`${place}.${name}`, checker.getTypeOfSymbol(symbol), checker.getTypeOfSymbol(twin));
        }
    }
}

// The same type in the two packages has two paths, and two ways to say which options an output takes.
const plain = type =>
    checker
        .typeToString(type, undefined, FLAGS)
        .replace(/import\("[^"]*"\)\./g, "")
        .replaceAll("typeof import", "import");

// The order of a union is that in which the compiler met its parts.
function sorted(text) {
    const parts = [""];
    let depth = 0;
    for (const letter of text.replaceAll("=>", "\u21d2")) {
        if (letter === "|" && depth === 0) {
            parts.push("");
            continue;
        }
        depth += "<{([".includes(letter) ? 1 : ">})]".includes(letter) ? -1 : 0;
        parts.push(parts.pop() + letter);
    }
    const inner = part => part.trim().replace(/^([^<{([]*[<{([])(.*)([>})\]][^>})\]]*)$/s, (all, open, middle, close) => open + sorted(middle) + close);
    return parts.map(inner).sort().join(" | ");
}

function texts(place, theirs, mine) {
    const [one, other] = [sorted(plain(theirs)), sorted(plain(mine))];
    compared += 1;
    if (one !== other) {
        missing.push(`${place}: ${one}\n        and ours is ${other}`);
    }
}

for (const path of typings.official) {
    if (typings.ours.includes(path)) {
        types(path, exported(official, path), exported(ours, path), new Set());
    } else {
        missing.push(`${path}: the whole typing file`);
    }
}

const counted = missing.filter(name => !exempt.some(pattern => pattern.test(name)));
for (const name of counted) {
    console.log(`missing     ${name}`);
}
if (words.includes("--additional")) {
    additional.forEach(name => console.log(`additional  ${name}`));
}
const modules = files(official, ".js").length;
const summary = `${compared} names in ${modules} modules compared, ${counted.length} missing, ${additional.length} additional`;
const left = missing.length - counted.length;
console.log(`${relative(".", ours) || ours}: ${summary}${left > 0 ? `, ${left} exempt` : ""}`);
process.exitCode = counted.length > 0 ? 1 : 0;
