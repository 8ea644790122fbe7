import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findRunnableBlocks } from "./docs/runnableBlocks";
import { readTour } from "./ops/readTour";
import { ROOT } from "./ops/repository";
import { findBrowser, openPage } from "./support/browser";
import { reportSkipped } from "./support/reportSkipped";
import { startStack, type TestStack } from "./support/startStack";

// The first commands of a newcomer: the README's tour, the blocks of the documentation, and the demo.
jest.setTimeout(480_000);

let stack: TestStack;

beforeAll(async () => {
  stack = await startStack({ bus: "feed" });
});
afterAll(async () => {
  await stack?.stop();
});

test("the README's tour runs as pasted", async () => {
  const { code, output } = await run("bash", ["-c", readTour()]);
  expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
  expect(output).not.toMatch(/code: '/);
  expect(output.match(/^(POST|GET) \/api\//gm)).toHaveLength(7);
  expect(output).toMatch(/status: 'CANCELLED'/);
  expect(output).toMatch(/type: 'PAYMENT_CANCEL'/);
});

test.each(findRunnableBlocks().map((block) => [block.page, block.language, block.code] as const))(
  "runnable block of %s succeeds: %s",
  async (page, language, code) => {
    const file = join(ROOT, ".cache", `${page.replaceAll(/\W/g, "-")}.mjs`);
    mkdirSync(join(ROOT, ".cache"), { recursive: true });
    if (language === "js") writeFileSync(file, code);
    const { code: exitCode, output } =
      language === "js"
        ? await run(process.execPath, [file])
        : await run("bash", ["-euo", "pipefail", "-c", code]);
    rmSync(file, { force: true });
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: expect.any(String) });
    expect(output).not.toMatch(/\bundefined\b/);
    // One guide shows a refusal on purpose.
    if (page !== "docs/guides/handle-errors.md") expect(output).not.toContain('"success":false');
  },
);

test("wonrail passes the output and the exit code of the owning service's program", async () => {
  const wonrail = (...args: string[]) =>
    run(process.execPath, [join(ROOT, "deploy/local/bin/wonrail.mjs"), ...args]);
  const listed = await wonrail("org", "list", "--json");
  expect(JSON.parse(listed.output)).toContainEqual(expect.objectContaining({ orgCode: "DEMO" }));
  const verified = await wonrail("verify", "--json");
  expect({ code: verified.code, ...JSON.parse(verified.output) }).toMatchObject({ code: 0, violations: 0 });
  const refused = await wonrail("key", "list", "--org", "NOWHERE");
  expect(refused.code).toBe(1);
  const status = await wonrail("stack", "status", "--json");
  expect(JSON.parse(status.output)).toContainEqual(expect.objectContaining({ name: "ledger", ready: true }));
});

const browser = findBrowser();
if (browser === undefined) reportSkipped("the documentation site: no Chromium is installed");

(browser === undefined ? test.skip : test)(
  "the gateway serves the documentation: pages, search and diagrams work under its policy",
  async () => {
    const page = await openPage(browser!);
    try {
      for (const scheme of ["light", "dark"] as const)
        for (const width of [1280, 390]) {
          await page.emulate({ width, height: 900, scheme });
          await page.open(`${stack.stack().gatewayUrl}/docs/`);
          await page.until("document.querySelector('.VPHero')");
          await page.until(`document.documentElement.matches('.dark') === ${scheme === "dark"}`);
          writeFileSync(join(ROOT, `.cache/docs-${scheme}-${width}.png`), await page.screenshot());
        }
      await page.emulate({ width: 1280, height: 900, scheme: "light" });
      await page.open(`${stack.stack().gatewayUrl}/docs/contribute/architecture`);
      await page.until("document.querySelector('.diagram svg')");
      await page.click(".DocSearch-Button");
      await page.type(".VPLocalSearchBox input", "idempotency");
      await page.until("document.querySelector('.VPLocalSearchBox .result')");
      expect(page.complaints()).toEqual([]);
      process.stderr.write(`  what /docs looks like: ${join(ROOT, ".cache/docs-*.png")}\n`);
    } finally {
      await page.close();
    }
  },
);

test("make demo succeeds: all operations are final, ledger and chain agree", async () => {
  const { code, output } = await run(process.execPath, [join(ROOT, "e2e/bin/demo.mjs")]);
  expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
  for (const seen of [
    "answers 401 WAUTH_001",
    "is final on chain",
    "so is its way back",
    "and the refund of a part",
    "executed when it was due",
    "credited once",
    "the delivery is DELIVERED",
  ])
    expect(output).toContain(seen);
  expect(output).toMatch(/ledger = chain: \d+ wallets compared, drift 0 KRW/);
});

/** Runs a command of a newcomer against the stack. */
async function run(command: string, args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...settings(), WONRAIL_HOME: stack.home.dir, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, output };
}

/** As a page tells its reader to set them. */
function settings(): Record<string, string> {
  const { gatewayUrl, organisations } = stack.stack();
  const { apiKey } = organisations[0]!;
  return { URL: gatewayUrl, KEY: apiKey, WONRAIL_BASE_URL: gatewayUrl, WONRAIL_API_KEY: apiKey };
}
