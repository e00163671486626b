// Registrations that wait for each other. The SDK has what uses a component wait for all that is below the component, those that
// do so themselves included.
import { existsSync } from "node:fs";
import * as path from "node:path";

import { currentStore, type Store } from "./store";

interface Resource {
    urn: { promise(): Promise<string> };
    __name?: string;
    __pulumiType?: string;
    __parentResource?: Resource;
}

interface Dependencies {
    getAllTransitivelyReferencedResources?: (
        resources: Iterable<Resource>,
        exclude: Set<Resource>,
    ) => Promise<Resource[]>;
    getAllTransitivelyReferencedResourceURNs?: (
        resources: Iterable<Resource>,
        exclude: Set<Resource>,
    ) => Promise<Set<string>>;
}

// What a resource that is being registered waits for.
const waits = new WeakMap<Resource, Set<Resource>>();
const told = new WeakMap<Store, (text: string) => void>();

/** Has a function called with what to say when two resources of a run wait for each other. */
export function whenCircular(store: Store, tell: (text: string) => void): void {
    told.set(store, tell);
}

/** Has one copy of the SDK note which resources a registration waits for. */
export function noteWaits(root: string): void {
    const file = path.join(root, "runtime/dependsOn.js");
    // In older SDKs nothing of it can be exchanged: there such a program ends, and is told what was not registered.
    if (!existsSync(file)) {
        return;
    }
    const dependencies = require(file) as Dependencies;
    const reach = dependencies.getAllTransitivelyReferencedResources;
    if (reach === undefined || dependencies.getAllTransitivelyReferencedResourceURNs === undefined) {
        return;
    }
    dependencies.getAllTransitivelyReferencedResourceURNs = async (resources, exclude) => {
        const reached = await reach(resources, exclude);
        // The resource that is registered; functions have none.
        const [waiting] = exclude;
        if (waiting !== undefined && reached.length > 0) {
            waits.set(waiting, new Set(reached));
            // Neither is registered before the other one: that is certain, whatever else goes on.
            const other = reached.find((it) => waits.get(it)?.has(waiting));
            const store = currentStore();
            if (other !== undefined && store !== undefined) {
                void circleOf(waiting, other).then((text) => told.get(store)?.(text));
            }
        }
        try {
            return new Set(await Promise.all(reached.map((it) => it.urn.promise())));
        } finally {
            if (waiting !== undefined) {
                waits.delete(waiting);
            }
        }
    };
}

async function circleOf(...resources: [Resource, Resource]): Promise<string> {
    const [first, second] = await Promise.all(resources.map(urnOf));
    return (
        `these resources wait for each other, so that neither can be registered: '${first}' and '${second}'\n` +
        "each depends on the other: by an input, by `dependsOn`, or by a component, which stands for all that is below it\n" +
        "take one of these dependencies away, or give one of the resources another `parent`"
    );
}

// The URN that a resource will have. Its parent has its own, for the SDK asks for that first.
async function urnOf({ __name, __pulumiType, __parentResource }: Resource): Promise<string> {
    const [stack, project, parentType] = (await __parentResource?.urn.promise())?.split("::") ?? [];
    const above = parentType === undefined || parentType === "pulumi:pulumi:Stack" ? "" : `${parentType}$`;
    return [stack, project, `${above}${__pulumiType}`, __name].filter((part) => part !== undefined).join("::");
}
