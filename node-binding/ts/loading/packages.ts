// Which package a file belongs to, and where a package of that name is: references in the state name the files of
// packages by the package, so that npm, pnpm and yarn may lay them out as they like.
import * as fs from "node:fs";
import Module from "node:module";
import * as path from "node:path";
import { OWN_DIRECTORY } from "../process/own-files";
import { findUp } from "./tsconfig";

/** What a package.json says, as far as it is needed here. */
interface Package {
    /** Where the package.json is. */
    directory: string;
    name: string;
    /** Names of all that it depends on, in whatever way. */
    dependencies: string[];
    /** Is it the SDK of a package of resources, as its generator says? */
    isSdk: boolean;
}

const MODULES = "node_modules";
const PREFIX = `${MODULES}/`;
// How Plug'n'Play names the files of a package of the workspace that has peer dependencies: with their hash.
const VIRTUAL = /(^|[\\/])(__virtual__|\$\$virtual)[\\/]/;
// More than any project has; a project whose packages are laid out in a circle of links ends here.
const MAX_SEARCHED = 20_000;

const byDirectory = new Map<string, Package | undefined>();

/** The package that a file belongs to: the nearest package.json above it that has a name. */
function packageOf(file: string): Package | undefined {
    const directory = path.dirname(file);
    if (directory === file || path.basename(directory) === MODULES) {
        return undefined;
    }
    if (!byDirectory.has(directory)) {
        const own = readPackage(directory);
        byDirectory.set(directory, own?.name ? own : packageOf(directory));
    }
    return byDirectory.get(directory);
}

// What a directory's package.json says; a folder's own one, which only says of which kind its modules are, has no name.
function readPackage(directory: string): Package | undefined {
    try {
        const manifest = JSON.parse(fs.readFileSync(path.join(directory, "package.json"), "utf8")) as Record<
            string,
            unknown
        >;
        const lists = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
        const dependencies = new Set(lists.flatMap((list) => Object.keys((manifest[list] as object | null) ?? {})));
        const name = typeof manifest.name === "string" ? manifest.name : "";
        const isSdk = (manifest.pulumi as { resource?: unknown } | null | undefined)?.resource === true;
        return { directory, name, dependencies: [...dependencies], isSdk };
    } catch {
        return undefined;
    }
}

/**
 * May the providers of a program be declared in that file? In every file of the project and of the packages of its
 * workspace, and in those of an installed package that has to do with Pulumi.
 */
export function mayDeclareProviders(file: string, source: string, root: string): boolean {
    if (isWithin(OWN_DIRECTORY, file)) {
        return false;
    }
    if (!inModules(path.relative(root, file))) {
        return true;
    }
    const { name = "", dependencies = [] } = packageOf(file) ?? {};
    if (name.startsWith("@pulumi/") || name === "maloko") {
        return false;
    }
    // A package may forget to say so; the result of a `create` gives it away.
    return dependencies.includes("@pulumi/pulumi") || (/\bcreate\b/.test(source) && /\bouts\b/.test(source));
}

/** Is it a file of the SDK of a package of resources? */
export function isOfPackageSdk(file: string): boolean {
    return packageOf(file)?.isSdk === true;
}

/** Is it a file of an installed package that does not say that it has to do with Pulumi, or of the SDK? */
export function isForeign(file: string): boolean {
    if (!inModules(file)) {
        return false;
    }
    const { name = "", dependencies = [] } = packageOf(file) ?? {};
    return name.startsWith("@pulumi/") || !dependencies.includes("@pulumi/pulumi");
}

/** How the state names files, relative to a project's directory. */
export class FileNames {
    readonly #found = new Map<string, string | undefined>();
    readonly #files = new Map<string, string>();
    #reachable: Map<string, string> | undefined;

    constructor(private readonly root: string) {}

    /**
     * The name of a file: its path relative to the project; for a file of a package that the project has installed or
     * linked, `node_modules/` with the package's name and the path in it, wherever the package really is.
     */
    nameOf(file: string): string {
        const relative = path.relative(this.root, file);
        if (this.isOwn(file)) {
            return withSlashes(relative);
        }
        const owner = packageOf(file);
        if (owner !== undefined) {
            const installed = this.#directoryOf(owner.name);
            if (installed !== undefined && realPath(installed) === realPath(owner.directory)) {
                return `${PREFIX}${owner.name}/${withSlashes(path.relative(owner.directory, file))}`;
            }
        }
        return withSlashes(relative);
    }

    /** Is it a file of the project itself, and of no package? */
    isOwn(file: string): boolean {
        const relative = path.relative(this.root, file);
        return isWithin(this.root, file) && !inModules(relative) && !VIRTUAL.test(relative);
    }

    /** The file of a name, or of one that was given while the packages were laid out in another way. */
    fileOf(name: string): string {
        const known = this.#files.get(name);
        if (known !== undefined) {
            return known;
        }
        const file = path.resolve(this.root, name);
        const inPackage = fs.existsSync(file) ? undefined : this.packageIn(name);
        const place = inPackage === undefined ? file : path.join(inPackage.directory, inPackage.rest);
        if (!fs.existsSync(place)) {
            return file;
        }
        const real = realPath(place);
        this.#files.set(name, real);
        return real;
    }

    /** The package that a name means, with the path of the file in it; undefined for a file of no installed package. */
    packageIn(name: string): { directory: string; rest: string } | undefined {
        const at = name.lastIndexOf(PREFIX);
        const words = at < 0 ? [] : name.slice(at + PREFIX.length).split("/");
        const packageName = words.splice(0, words[0]?.startsWith("@") === true ? 2 : 1).join("/");
        const directory = packageName === "" ? undefined : this.#directoryOf(packageName);
        return directory === undefined ? undefined : { directory: realPath(directory), rest: words.join("/") };
    }

    #directoryOf(name: string): string | undefined {
        if (!this.#found.has(name)) {
            const installed = installedAbove(this.root, name) ?? this.#reach().get(name);
            this.#found.set(name, installed);
        }
        return this.#found.get(name);
    }

    // What the project's packages depend on themselves, which it cannot see itself where each package has its own folder.
    #reach(): Map<string, string> {
        if (this.#reachable !== undefined) {
            return this.#reachable;
        }
        const reachable = new Map<string, string>();
        const own = readPackage(this.root) ?? packageOf(path.join(this.root, "package.json"));
        const queue = own === undefined ? [] : [own];
        const seen = new Set<string>();
        for (let next = queue.shift(); next !== undefined && seen.size < MAX_SEARCHED; next = queue.shift()) {
            for (const name of next.dependencies.sort()) {
                const directory = installedAbove(next.directory, name);
                const real = directory && realPath(directory);
                if (real === undefined || seen.has(real)) {
                    continue;
                }
                seen.add(real);
                if (!reachable.has(name)) {
                    reachable.set(name, real);
                }
                const found = readPackage(real);
                if (found !== undefined) {
                    queue.push(found);
                }
            }
        }
        this.#reachable = reachable;
        return reachable;
    }
}

// What Yarn's Plug'n'Play adds to Node's `module`, where it is at work.
interface PlugAndPlay {
    resolveToUnqualified(name: string, issuer: string, options: { considerBuiltins: boolean }): string | null;
}

/** Where a package is that code in a directory imports by its name. */
function installedAbove(directory: string, name: string): string | undefined {
    const issuer = directory + path.sep;
    const found = (Module as { findPnpApi?: (issuer: string) => PlugAndPlay | null }).findPnpApi?.(issuer);
    if (found) {
        try {
            return found.resolveToUnqualified(name, issuer, { considerBuiltins: false }) ?? undefined;
        } catch {
            // Not among the dependencies of the package that the directory belongs to.
            return undefined;
        }
    }
    const manifest = findUp(directory, path.join(MODULES, name, "package.json"));
    return manifest && path.dirname(manifest);
}

function realPath(file: string): string {
    try {
        return fs.realpathSync(file);
    } catch {
        return file;
    }
}

function isWithin(directory: string, file: string): boolean {
    const relative = path.relative(directory, file);
    return !relative.startsWith("..") && !path.isAbsolute(relative);
}

function inModules(relative: string): boolean {
    return relative.split(path.sep).includes(MODULES);
}

function withSlashes(relative: string): string {
    return relative.split(path.sep).join("/");
}
