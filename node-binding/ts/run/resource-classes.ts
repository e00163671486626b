// How the program makes its resources: what code needs to know that declares another one.

import { classTree, membersOf } from "../process/syntax";
import type { ProviderReference } from "../providers/registry";

/** A class of resources; `ResourceClass` of the command line explains the members. */
export interface ResourceClass {
    module: string;
    name: string;
    kind: string;
    providerModule: string;
    providerName: string;
    takesProvider: boolean;
    parameters: { name: string; required: boolean }[];
}

/** Describes a class of resources; undefined where its constructor cannot be read. */
export function described(
    make: object,
    place: { module: string; name: string },
    kind: string,
    provider: ProviderReference,
): ResourceClass | undefined {
    const names = parametersOf(make);
    if (names === undefined) {
        return undefined;
    }
    const takesProvider = names.inherited;
    return {
        ...place,
        kind,
        providerModule: provider.module,
        providerName: provider.name,
        takesProvider,
        // Which of them must be given is a matter of types, which are gone.
        parameters: names.names.slice(takesProvider ? 2 : 1).map((name) => ({ name, required: false })),
    };
}

// The names of the parameters of the constructor that is called: its own, or that of a class above it.
function parametersOf(make: object): { names: string[]; inherited: boolean } | undefined {
    for (let kind: unknown = make; typeof kind === "function"; kind = Object.getPrototypeOf(kind)) {
        let own: string[] | undefined;
        try {
            own = ownParameters(Function.prototype.toString.call(kind));
        } catch {
            return undefined;
        }
        if (own !== undefined) {
            // The SDK's own class takes the provider.
            return { names: own, inherited: own[0] === "provider" };
        }
    }
    return undefined;
}

interface Parameter {
    name?: string;
    left?: Parameter;
    argument?: Parameter;
}

function ownParameters(text: string): string[] | undefined {
    const own = membersOf(classTree(text)).find(({ kind }) => kind === "constructor");
    return (own?.value as { params: Parameter[] } | undefined)?.params.map(nameOfParameter);
}

function nameOfParameter(parameter: Parameter): string {
    const plain = parameter.left ?? parameter.argument ?? parameter;
    return plain.name ?? "";
}
