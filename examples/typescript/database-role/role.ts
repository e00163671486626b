// Roles of a PostgreSQL server as resources, through pg.
import * as pulumi from "@pulumi/pulumi";
import { currentCall } from "maloko";
import { Client, escapeIdentifier, escapeLiteral } from "pg";

const NO_LIMIT = -1;
const NAME = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/;
/** What create writes beside a role, so that `find` knows which create made it. */
const MADE_BY = "made by maloko, operation ";

/** What the provider's methods are given, resolved. */
interface Inputs {
    role: string;
    password: string;
    connectionLimit: number;
}

interface Found {
    rolname: string;
    rolconnlimit: number;
}

// Manages roles of the server at DATABASE_URL, which is read anew for every call: so the administrator's password is
// never in the state or the configuration, and a destroy uses today's.
const roleProvider = {
    async check(_olds: Inputs, news: Inputs): Promise<pulumi.dynamic.CheckResult<Inputs>> {
        const failures: pulumi.dynamic.CheckFailure[] = [];
        const { role, connectionLimit: limit } = news;
        if (!isUnknown(role) && !NAME.test(role)) {
            const reason = `"${role}" is no name for a role: write small letters, digits and underscores, and no pg_ first`;
            failures.push({ property: "role", reason });
        }
        if (!isUnknown(limit) && !(Number.isInteger(limit) && limit >= NO_LIMIT)) {
            failures.push({ property: "connectionLimit", reason: `must be a whole number, or ${NO_LIMIT} for no limit` });
        }
        return { inputs: news, failures };
    },

    async diff(_id: string, olds: Inputs, news: Inputs): Promise<pulumi.dynamic.DiffResult> {
        const changed = (["role", "password", "connectionLimit"] as const).filter((key) => olds[key] !== news[key]);
        return { changes: changed.length > 0, replaces: changed.filter((key) => key === "role") };
    },

    // Makes the role, and notes the operation key beside it: both are there, or neither is. A role of that name that is
    // there already is somebody else's, and an error.
    async create(inputs: Inputs): Promise<pulumi.dynamic.CreateResult<Inputs>> {
        const role = escapeIdentifier(inputs.role);
        const madeBy = escapeLiteral(MADE_BY + currentCall().operationKey);
        await connected(async (client) => {
            await client.query("BEGIN");
            await client.query(`CREATE ROLE ${role} ${optionsOf(inputs)}`);
            await client.query(`COMMENT ON ROLE ${role} IS ${madeBy}`);
            await client.query("COMMIT");
        });
        return { id: inputs.role, outs: inputs };
    },

    // Looks for the role that a create with this key made, whose answer nobody heard.
    async find(key: string, inputs: Inputs): Promise<pulumi.dynamic.ReadResult | undefined> {
        const query = "SELECT rolname, rolconnlimit FROM pg_roles WHERE shobj_description(oid, 'pg_authid') = $1";
        const [found] = await connected(async (client) => (await client.query<Found>(query, [MADE_BY + key])).rows);
        return found && { id: found.rolname, props: { ...inputs, ...propsOf(found) } };
    },

    // Says whether the role is there, and its limit. The server tells nobody its password.
    async read(id: string, props?: Inputs): Promise<pulumi.dynamic.ReadResult> {
        const query = "SELECT rolname, rolconnlimit FROM pg_roles WHERE rolname = $1 AND rolcanlogin";
        const [found] = await connected(async (client) => (await client.query<Found>(query, [id])).rows);
        if (!found) return { id: "" };
        const inputs = { ...props, ...propsOf(found) };
        return { id, props: inputs, inputs };
    },

    async update(id: string, _olds: Inputs, news: Inputs): Promise<pulumi.dynamic.UpdateResult<Inputs>> {
        await connected((client) => client.query(`ALTER ROLE ${escapeIdentifier(id)} ${optionsOf(news)}`));
        return { outs: news };
    },

    async delete(id: string): Promise<void> {
        await connected((client) => client.query(`DROP ROLE IF EXISTS ${escapeIdentifier(id)}`));
    },
};

/** Does something with a connection of its own; the server undoes what was begun and not committed when it closes. */
async function connected<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const address = process.env.DATABASE_URL;
    if (!address) throw new Error("the environment variable DATABASE_URL is not set");
    const client = new Client({ connectionString: address });
    await client.connect();
    try {
        return await work(client);
    } finally {
        await client.end();
    }
}

function optionsOf({ password, connectionLimit }: Inputs): string {
    return `LOGIN PASSWORD ${escapeLiteral(password)} CONNECTION LIMIT ${connectionLimit}`;
}

function propsOf({ rolname, rolconnlimit }: Found): Omit<Inputs, "password"> {
    return { role: rolname, connectionLimit: rolconnlimit };
}

// In a preview, what another resource has yet to answer.
function isUnknown(value: unknown): boolean {
    return value === pulumi.runtime.unknownValue;
}

export interface RoleArgs {
    /** The role's name on the server. */
    role: pulumi.Input<string>;
    password: pulumi.Input<string>;
    /** How many connections it may have at a time; without it, as many as it likes. */
    connectionLimit?: pulumi.Input<number>;
}

/** A role that may log in with a password. */
export class Role extends pulumi.dynamic.Resource {
    declare readonly role: pulumi.Output<string>;
    declare readonly connectionLimit: pulumi.Output<number>;

    constructor(name: string, args: RoleArgs, opts?: pulumi.CustomResourceOptions) {
        super(roleProvider, name, { connectionLimit: NO_LIMIT, ...args }, opts, undefined, "Role");
    }
}
