// The component package team: a password of the package vault for each member of a team.
//
// Pulumi's SDK serves the components that this module exports, and reads their inputs and outputs from their types.
import * as pulumi from "@pulumi/pulumi";

/** A password of the package vault, as a generated SDK would have it. */
class Password extends pulumi.CustomResource {
    declare readonly result: pulumi.Output<string>;

    constructor(name: string, args: { length?: pulumi.Input<number> }, opts?: pulumi.CustomResourceOptions) {
        super("vault:index:Password", name, { result: undefined, ...args }, opts);
    }
}

export interface TeamArgs {
    /** The names of the members. */
    members: string[];
    /** How long each password is. */
    passwordLength?: number;
}

export class Team extends pulumi.ComponentResource {
    /** The password of each member, by name: a preview knows those of the members who stay. */
    readonly passwords: Record<string, pulumi.Output<string>>;

    constructor(name: string, args: TeamArgs, opts?: pulumi.ComponentResourceOptions) {
        super("team:index:Team", name, {}, opts);
        const passwords = args.members.map((member) => {
            const password = new Password(`${name}-${member}`, { length: args.passwordLength }, { parent: this });
            return [member, password.result] as const;
        });
        this.passwords = Object.fromEntries(passwords);
        this.registerOutputs({ passwords: this.passwords });
    }
}
