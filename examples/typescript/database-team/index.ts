// A role of a PostgreSQL server for each member of a team; the component package team makes their passwords.
import * as pulumi from "@pulumi/pulumi";
import { Role } from "./role";
import { Team } from "./team";

const members = new pulumi.Config().requireObject<string[]>("members");
const team = new Team("team", { members });

export const roles = Object.fromEntries(
    members.map((member) => {
        const role = new Role(member, { role: member, password: team.passwords[member] });
        return [member, role.role];
    }),
);
export const passwords = team.passwords;
