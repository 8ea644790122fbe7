import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Stack } from "@wonrail/local/stackFile";
import { ROOT } from "../ops/repository";

/** Output of `wonrail verify`. Rejects with the rows when an invariant does not hold. */
export async function verifyLedger({ postgres }: Stack): Promise<string> {
  const script = join(ROOT, "services/ledger/bin/admin.mjs");
  const env = { ...process.env, DATABASE_URL: postgres.urls.ledger };
  return (await promisify(execFile)(process.execPath, [script, "verify"], { env })).stdout;
}
