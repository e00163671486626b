import * as pulumi from "@pulumi/pulumi";
export declare function getEnv(...vars: string[]): string | undefined;
export declare function getEnvBoolean(...vars: string[]): boolean | undefined;
export declare function getEnvNumber(...vars: string[]): number | undefined;
export declare function getVersion(): string;
/** `pulumi.InvokeOutputOptions`, also with versions of the SDK that do not name them yet. */
export type InvokeOutputOptions = NonNullable<Parameters<typeof pulumi.runtime.invokeOutput>[2]>;
