// Modules that stand in for others until those are needed.
import * as fs from "node:fs";
import Module from "node:module";

/** Puts a module with these exports in the place of a file that nothing has loaded; undefined where it cannot. */
export function standIn(file: string, exports: object): Module | undefined {
    if (require.cache[file] !== undefined || !fs.existsSync(file)) {
        return undefined;
    }
    const stub = new Module(file);
    Object.assign(stub, { filename: file, loaded: true, exports });
    require.cache[file] = stub;
    return stub;
}
