import { join } from "node:path";
import { cliEnvironment } from "./cliEnvironment";
import { REPOSITORY } from "./config";
import { PartError } from "./parts/partError";
import { runCommand } from "./process/runCommand";
import type { DemoOrganisation, Stack } from "./stackFile";

const NAME = "Demo Bank";
const CODE = "DEMO";
const REASON = ["--reason", "start of the local stack"];
const ADMIN = join(REPOSITORY, "services/auth/bin/admin.mjs");

interface Created {
  orgCode: string;
  apiKey: string;
  secretKey: string;
}

/**
 * Creates the demo organisation. Only stack.json has its keys, because the database stores hashes.
 */
export async function ensureDemoOrganisation(stack: Stack): Promise<DemoOrganisation[]> {
  const admin = <T>(...args: string[]): Promise<T> => runAdmin<T>(stack, args);
  const known = stack.organisations[0];
  if (known !== undefined && (await isAccepted(stack.gatewayUrl, known))) return stack.organisations;

  const organisations = await admin<{ orgCode: string }[]>("org", "list", "--json");
  if (!organisations.some(({ orgCode }) => orgCode === CODE)) {
    const terms = ["--plan", "ENTERPRISE", "--incentive-bps", "500", ...REASON];
    const made = await admin<Created>("org", "create", "--name", NAME, "--code", CODE, ...terms, "--json");
    return [{ name: NAME, orgCode: CODE, apiKey: made.apiKey, secretKey: made.secretKey }];
  }
  // stack.json was lost, or its key has expired since the last start.
  const { apiKey } = await admin<Created>("key", "issue", "--org", CODE, ...REASON, "--json");
  const { secretKey } =
    known ?? (await admin<Created>("org", "rotate-secret", "--code", CODE, ...REASON, "--json"));
  return [{ name: NAME, orgCode: CODE, apiKey, secretKey }];
}

async function isAccepted(gatewayUrl: string, { apiKey }: DemoOrganisation): Promise<boolean> {
  const response = await fetch(`${gatewayUrl}/api/wallet-auth/session`, {
    headers: { "x-api-key": apiKey },
    signal: AbortSignal.timeout(10_000),
  });
  await response.arrayBuffer();
  return response.ok;
}

async function runAdmin<T>(stack: Stack, args: string[]): Promise<T> {
  const { ok, stdout, problem } = await runCommand(process.execPath, [ADMIN, ...args], {
    env: { ...cliEnvironment(stack), USER: "make up" },
  });
  if (!ok)
    throw new PartError(
      "The demo organisation could not be created",
      problem,
      "read logs/auth.log; `make reset` deletes all data for a new start.",
    );
  return JSON.parse(stdout) as T;
}
