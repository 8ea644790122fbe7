import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium, type Page } from "playwright-core";
import { findBrowser } from "../support/browser";
import { ROOT } from "../ops/repository";

const SIGN_IN_LINK = join(ROOT, "console/server/bin/signInLink.mjs");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** An operator with an own session in an own browser profile. */
export interface SignedIn {
  page: Page;
  /** Errors of scripts, and everything that the page's policy blocked. */
  complaints: string[];
}

export function launchBrowser(): Promise<Browser> {
  const path = spawnSync("sh", ["-c", `command -v ${findBrowser()}`], { encoding: "utf8" }).stdout.trim();
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: path, args: [...args, "--disable-dev-shm-usage"] });
}

/** Signs in by a one-time link, as `make up` prints it. */
export async function signIn(
  browser: Browser,
  { home, operator, roles }: { home: string; operator: string; roles: readonly string[] },
): Promise<SignedIn> {
  const args = ["--operator", operator, ...roles.flatMap((role) => ["--role", role])];
  const env = { ...process.env, WONRAIL_HOME: home };
  const { stdout } = await promisify(execFile)(process.execPath, [SIGN_IN_LINK, ...args], { env });
  const signedIn = await openPage(browser);
  await signedIn.page.goto(stdout.trim());
  await atHome(signedIn.page);
  return signedIn;
}

/** A page of an own browser profile, without a session. */
export async function openPage(browser: Browser): Promise<SignedIn> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    timezoneId: "Asia/Seoul",
  });
  // Pages of the identity provider import a font from the internet.
  await context.route(/^https:/, (route) => route.abort());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // A refusal that the test provokes is written there as a failed request.
    const isRefusal = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isRefusal) complaints.push(message.text());
  });
  return { page, complaints };
}

export function atHome(page: Page): Promise<void> {
  return page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
}

/** Violations of a serious or critical kind, with the elements that break each rule. */
export async function findBarriers(page: Page): Promise<string[]> {
  // The page's policy permits no other script, but the debugger may evaluate one.
  await page.evaluate(AXE);
  const found = await page.evaluate<{ violations: AxeViolation[] }>("axe.run(document)");
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
}

interface AxeViolation {
  id: string;
  impact: string | null;
  nodes: { html: string }[];
}

/** Opens an action's dialog, gives the reason, and confirms. */
export async function act(
  page: Page,
  { label, reason, choice }: { label: string; reason: string; choice?: { field: string; option: string } },
): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  if (choice) await dialog.getByLabel(choice.field).selectOption({ label: choice.option });
  await dialog.getByLabel("Reason").fill(reason);
  await dialog.getByRole("button", { name: label, exact: true }).click();
}

/** Waits for the outcome, and closes the dialog. */
export async function expectOutcome(page: Page, outcome: "Done." | "Proposed."): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByText(outcome).waitFor();
  await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
  await dialog.waitFor({ state: "hidden" });
}
