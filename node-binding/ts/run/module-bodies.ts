import { callSites } from "../process/call-sites";
import { OWN_DIRECTORY } from "../process/own-files";

// Resources that the body of a module registers: it runs when the module is first loaded only, also when a program runs
// again in the same process. In a second run such a resource is not registered, which does not mean that the program no
// longer has it. So it must not be deleted.

interface Body {
    file: string;
    /** The CommonJS module; ES modules never run again. */
    module: WeakRef<object> | undefined;
}

// By URN, for the whole thread: what is remembered here belongs to the modules, which are the thread's too.
const registeredBy = new Map<string, Body>();
const MAX_FRAMES = 100;

/** What one run of a program registers from the bodies of modules, and what it does not come to register. */
export class ModuleBodies {
    readonly #prefix: string;
    readonly #waiting = new Map<string, Body>();
    readonly #seen = new Set<string>();

    constructor(project: string, stack: string) {
        this.#prefix = `urn:pulumi:${stack}::${project}::`;
    }

    /** A resource is made; to be called within its constructor. */
    note(type: string, name: string): void {
        const file = fileOfBody();
        if (file !== undefined) {
            const module = require.cache[file];
            this.#waiting.set(`${type}::${name}`, { file, module: module && new WeakRef(module) });
        }
    }

    /** A resource has its URN, which ends with its type and name. */
    registered(type: string, urn: string): void {
        const key = `${type}::${urn.slice(urn.lastIndexOf("::") + 2)}`;
        const body = this.#waiting.get(key);
        if (body !== undefined) {
            this.#waiting.delete(key);
            registeredBy.set(urn, body);
        }
        this.#seen.add(urn);
    }

    /** What an earlier run registered and this one did not, with the file of the module whose body did not run. */
    notExecutedAgain(): { urn: string; file: string }[] {
        return [...registeredBy]
            .filter(([urn, { file, module }]) => {
                const loaded = module?.deref();
                // One that was collected as garbage can be loaded anew.
                const isThere = module === undefined || (loaded !== undefined && loaded === require.cache[file]);
                return urn.startsWith(this.#prefix) && !this.#seen.has(urn) && isThere;
            })
            .map(([urn, { file }]) => ({ urn, file }));
    }
}

// The file whose body is running: the frame that Node's loader calls. Frames below ours are not the program's.
function fileOfBody(): string | undefined {
    let previous: string | undefined;
    for (const site of callSites(fileOfBody, MAX_FRAMES)) {
        const file = site.getFileName() ?? undefined;
        if (previous !== undefined && file !== undefined && /^node:internal\/modules\/(cjs|esm)\//.test(file)) {
            return previous;
        }
        previous = file === undefined || file.startsWith("node:") || file.startsWith(OWN_DIRECTORY) ? undefined : file;
    }
    return undefined;
}
