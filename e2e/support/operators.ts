import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { cliEnvironment } from "@wonrail/local/cliEnvironment";
import { type Stack } from "@wonrail/local/stackFile";
import { ROOT } from "../ops/repository";
import { type Api, openApi } from "./api";

const COMMAND = join(ROOT, "services/auth/bin/admin.mjs");

export interface NewOrganisation {
  orgId: string;
  orgCode: string;
  apiKey: string;
  secretKey: string;
  api: Api;
}

/** Runs a command of auth that changes state. */
export async function admin(stack: Stack, ...args: string[]): Promise<Record<string, string>> {
  const env = { ...process.env, ...cliEnvironment(stack) };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [COMMAND, ...args, "--reason", "test", "--json"],
    { env },
  );
  return JSON.parse(stdout) as Record<string, string>;
}

/** Keys that newOrganisation has created, by name. */
export const issuedKeys: Record<string, string> = {};

let made = 0;

/** An organisation of a test's own. */
export async function newOrganisation(stack: Stack, ...options: string[]): Promise<NewOrganisation> {
  made += 1;
  const code = `T${Date.now().toString(36)}${made}`.toUpperCase();
  const base = { "--plan": "ENTERPRISE", "--rate": "10000", "--burst": "10000" };
  const terms = { "--name": `Test ${code}`, "--code": code, ...base, ...pairsOf(options) };
  const created = await admin(stack, "org", "create", ...Object.entries(terms).flat());
  const { orgId, orgCode, apiKey, secretKey } = created as unknown as NewOrganisation;
  Object.assign(issuedKeys, { [`API key of ${orgCode}`]: apiKey, [`secret key of ${orgCode}`]: secretKey });
  return { orgId, orgCode, apiKey, secretKey, api: openApi(stack.gatewayUrl, apiKey) };
}

/** Reads a command line's options; each option has a value. */
function pairsOf(options: string[]): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (let index = 0; index < options.length; index += 2) pairs[options[index]!] = options[index + 1]!;
  return pairs;
}
