// Gives every name of the configuration an identifier that is drawn once and then stays.
import * as pulumi from "@pulumi/pulumi";
import { StableId } from "./stableId";

const names = new pulumi.Config().requireObject<string[]>("names");

export const identifiers = Object.fromEntries(names.map((name) => [name, new StableId(name, { size: 8 }).text]));
