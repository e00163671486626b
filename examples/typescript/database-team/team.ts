// The component package team: what an SDK that is generated for it would have. Its plugin makes what is in a team.
import * as pulumi from "@pulumi/pulumi";

export interface TeamArgs {
    members: string[];
}

/** A password of the package vault for each member. */
export class Team extends pulumi.ComponentResource {
    declare readonly passwords: pulumi.Output<Record<string, string>>;

    constructor(name: string, args: TeamArgs, opts?: pulumi.ComponentResourceOptions) {
        super("team:index:Team", name, { passwords: undefined, ...args }, opts, true);
    }
}
