import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { cliEnvironment } from "@wonrail/local/cliEnvironment";
import { type Stack } from "@wonrail/local/stackFile";
import { type Json, openApi } from "../support/api";
import { screen } from "./screen";
import { type Demo } from "./demo";

/**
 * Refreshes a key, uses its overlap, revokes it and shows the refusal. Uses a separate key, so that
 * stack.json's stays valid.
 */
export async function keysChapter({ stack, api }: Demo): Promise<void> {
  screen.chapter("Keys");
  const { orgCode, secretKey } = stack.organisations[0]!;
  const session = await api.get("/api/wallet-auth/session");
  screen.line(`organisation ${session.organisation.name} (${orgCode}), plan ${session.plan}`);
  const first = await issueKey(stack, orgCode);
  screen.done(`issued a key for this story: ${first.slice(0, 20)}…`);

  const { newApiKey, expiresAt } = await refresh(stack.gatewayUrl, first, secretKey);
  screen.done(`refreshed: a new key until ${expiresAt}`);
  const old = await openApi(stack.gatewayUrl, first).call("GET", "/api/wallet-auth/session");
  screen.done(`the old key in its overlap answers ${old.status}`);

  const wanted = { name: "reader of the demo", scopes: ["wallets:read"] };
  const reader = await openApi(stack.gatewayUrl, newApiKey).post("/api/wallet-auth/keys", wanted);
  const small = openApi(stack.gatewayUrl, reader.apiKey);
  const read = await small.call("GET", "/api/wallets");
  const written = await small.call("POST", "/api/wallets", { userId: "x", walletType: "NORMAL" });
  const { code, details } = written.body.error!;
  screen.done(
    `a key with wallets:read reads (${read.status}); a write is ${code}, scope ${String(details?.scope)}`,
  );

  const revoked = openApi(stack.gatewayUrl, newApiKey);
  await revoked.call("DELETE", "/api/wallet-auth/api-key");
  const refused = await revoked.call("GET", "/api/wallet-auth/session");
  screen.done(`the new key, revoked, answers ${refused.status} ${refused.body.error?.code}`);
}

/** Issues a key as an operator does: npx wonrail key issue. */
async function issueKey(stack: Stack, orgCode: string): Promise<string> {
  const command = join("services", "auth", "bin", "admin.mjs");
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [command, "key", "issue", "--org", orgCode, "--reason", "demo", "--json"],
    { env: { ...process.env, ...cliEnvironment(stack) } },
  );
  return (JSON.parse(stdout) as { apiKey: string }).apiKey;
}

async function refresh(gatewayUrl: string, apiKey: string, secretKey: string): Promise<Json> {
  const api = openApi(gatewayUrl, apiKey);
  const { status, body } = await api.call(
    "POST",
    "/api/wallet-auth/refresh",
    { apiKey, secretKey },
    { key: null },
  );
  if (!body.success) throw new Error(`refreshing answered ${status} ${body.error?.code}`);
  return body.data;
}
