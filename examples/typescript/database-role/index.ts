// A role of a PostgreSQL server, with a password from the package vault.
import * as pulumi from "@pulumi/pulumi";
import { Role } from "./role";
import { Password } from "./vault";

const config = new pulumi.Config();
const made = new Password("password", { length: config.requireNumber("passwordLength") });
const databaseRole = new Role("role", {
    role: config.require("role"),
    password: made.result,
    connectionLimit: config.requireNumber("connectionLimit"),
});

export const role = databaseRole.role;
export const password = made.result;
