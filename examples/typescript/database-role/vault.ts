// The package vault: what an SDK that is generated for it would have. Its plugin makes the passwords.
import * as pulumi from "@pulumi/pulumi";

export interface PasswordArgs {
    length?: pulumi.Input<number>;
}

/** A random password that the vault keeps. A new length makes a new password. */
export class Password extends pulumi.CustomResource {
    declare readonly result: pulumi.Output<string>;

    constructor(name: string, args: PasswordArgs, opts?: pulumi.CustomResourceOptions) {
        super("vault:index:Password", name, { result: undefined, ...args }, opts);
    }
}
