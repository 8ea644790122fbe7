import { spawn } from "node:child_process";
import { CLIENT, startIdentityProvider, type TestProvider } from "@wonrail/console/testing/identityProvider";
import { eventually } from "@wonrail/kit/testing";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { consoleSpec } from "@wonrail/local/services";
import { type Page } from "playwright-core";
import { type TestStack } from "../support/startStack";

export interface OidcConsole {
  url: string;
  provider: TestProvider;
  close(): Promise<void>;
}

/** A second console of the stack, whose operators sign in by a certified identity provider. */
export async function startOidcConsole({ home, stack }: TestStack): Promise<OidcConsole> {
  const url = `http://127.0.0.1:${await randomFreePort()}`;
  const provider = await startIdentityProvider(url);
  const { services, ...rest } = stack();
  const ops = `127.0.0.1:${await randomFreePort()}`;
  const own = { ...rest, consoleUrl: url, services: { ...services, console: { ops, pid: null } } };
  const client = { OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret };
  const spec = consoleSpec(home, own, { OIDC_ISSUER: provider.issuer, ...client });
  const child = spawn(spec.command, spec.args(), { cwd: spec.cwd, env: spec.env, stdio: "ignore" });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const close = async () => {
    child.kill(spec.stopSignal);
    await exited;
    await provider.close();
  };
  try {
    await eventually(spec.probe, { timeoutMs: spec.readyTimeoutMs });
  } catch (error) {
    await close();
    throw error;
  }
  return { url, provider, close };
}

/** Fills the pages of the identity provider. Any password signs an account in. */
export async function signInAtProvider(page: Page, login: string): Promise<void> {
  await page.getByPlaceholder("Enter any login").fill(login);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}
