import { readFileSync } from "node:fs";
import { runAdmin } from "@wonrail/auth/admin";
import { type Stack } from "@wonrail/local/stackFile";
import { type Api, openApi } from "./api";

export interface NewOrganisation {
  orgId: string;
  orgCode: string;
  apiKey: string;
  secretKey: string;
  api: Api;
}

/** Runs a command of auth that changes state, without a process of its own. */
export async function admin({ services, cli }: Stack, ...args: string[]): Promise<Record<string, string>> {
  let [output, problem] = ["", ""];
  const code = await runAdmin([...args, "--reason", "test", "--json"], {
    config: { USER: "test", AUTH_ADDRESS: services.auth!.grpc, ...identityIn(cli) },
    out: (text) => void (output += text),
    err: (text) => void (problem += text),
  });
  if (code !== 0) throw new Error(problem);
  return JSON.parse(output) as Record<string, string>;
}

function identityIn(cli: Stack["cli"]) {
  const read = (file: string): string => readFileSync(file, "utf8");
  return cli && { TLS_CERT: read(cli.cert), TLS_KEY: read(cli.key), TLS_CA: read(cli.ca) };
}

/** Keys that newOrganisation has created, by name. */
export const issuedKeys: Record<string, string> = {};

let made = 0;

/** An organisation of a test's own. */
export async function newOrganisation(stack: Stack, ...options: string[]): Promise<NewOrganisation> {
  made += 1;
  // Several workers create organisations in the shared stack.
  const code = `T${Date.now().toString(36)}W${process.env.JEST_WORKER_ID ?? 0}N${made}`.toUpperCase();
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
