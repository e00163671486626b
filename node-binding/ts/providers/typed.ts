// A base class for providers whose inputs and outputs have declared types, checked at run time where there is a schema.
import { UNKNOWN } from "../sdk/signatures";

/** What the schema libraries (zod, valibot, ArkType) have in common: https://standardschema.dev. */
export interface Schema<T> {
    readonly "~standard": {
        validate(value: unknown): Validated<T> | Promise<Validated<T>>;
    };
}

/** What a schema makes of a value. */
export type Validated<T> =
    | { readonly value: T; readonly issues?: undefined }
    | {
          readonly issues: readonly {
              readonly message: string;
              readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
          }[];
      };

/** What `check` answers. */
export interface Checked<Inputs> {
    inputs?: Inputs;
    failures?: { property: string; reason: string }[];
}

/**
 * A provider whose methods are typed by its inputs and outputs. With `static inputs` set to a schema, `check` refuses
 * inputs that do not fit, each with its property; and `create`, `update` and `diff` get what the schema made of them.
 * Inputs with values that are not known yet, in previews, are passed as they are, and checked in the run itself.
 */
export abstract class TypedProvider<Inputs extends object, Outputs extends object = Inputs> {
    /** The schema of the inputs. */
    static inputs?: Schema<unknown>;

    abstract create(inputs: Inputs): Promise<{ id: string; outs: Outputs }>;

    update?(id: string, olds: Outputs, news: Inputs): Promise<{ outs: Outputs }>;

    diff?(
        id: string,
        olds: Outputs,
        news: Inputs,
    ): Promise<{ changes?: boolean; replaces?: string[]; stables?: string[]; deleteBeforeReplace?: boolean }>;

    /** Looks for the object that an earlier `create` with this operation key and these inputs may have made. */
    find?(key: string, inputs: Inputs): Promise<{ id?: string; props?: Outputs; inputs?: Inputs } | undefined>;

    read?(id: string, props: Outputs): Promise<{ id?: string; props?: Outputs; inputs?: Inputs }>;

    delete?(id: string, props: Outputs): Promise<void>;

    /** Refuses inputs that do not fit. A class that overrides this should call it first. */
    async check(_olds: Inputs, news: Inputs): Promise<Checked<Inputs>> {
        const { inputs } = this.constructor as typeof TypedProvider;
        if (inputs === undefined || holdsUnknown(news)) {
            return { inputs: news };
        }
        const result = await inputs["~standard"].validate(news);
        return result.issues === undefined
            ? { inputs: news }
            : { failures: result.issues.map((issue) => ({ property: pathOf(issue.path), reason: issue.message })) };
    }
}

/** The inputs of a typed provider as its schema makes them; those of any other provider as they are, at once. */
export function typedInputs<T extends object>(provider: object, inputs: T): T | Promise<T> {
    if (!(provider instanceof TypedProvider)) {
        return inputs;
    }
    const { inputs: schema } = provider.constructor as typeof TypedProvider;
    return schema === undefined || holdsUnknown(inputs) ? inputs : (valid(schema, inputs) as Promise<T>);
}

async function valid(schema: Schema<unknown>, value: unknown): Promise<unknown> {
    const result = await schema["~standard"].validate(value);
    if (result.issues === undefined) {
        return result.value;
    }
    const problems = result.issues.map((issue) => `input property \`${pathOf(issue.path)}\`: ${issue.message}`);
    throw new TypeError(problems.join("; "));
}

function pathOf(path: readonly (PropertyKey | { readonly key: PropertyKey })[] = []): string {
    return path
        .map((part) => (typeof part === "object" ? part.key : part))
        .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${String(key)}`))
        .join("");
}

function holdsUnknown(value: unknown): boolean {
    if (value === UNKNOWN) {
        return true;
    }
    return value !== null && typeof value === "object" && Object.values(value).some(holdsUnknown);
}
