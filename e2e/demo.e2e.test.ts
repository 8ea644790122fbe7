import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { readTour } from "./ops/readTour";
import { ROOT } from "./ops/repository";
import { startStack, type TestStack } from "./support/startStack";

// The first commands of a newcomer: the README's tour and the demo.
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

test("make demo succeeds: all operations are final, ledger and chain agree", async () => {
  const { code, output } = await run(process.execPath, [join(ROOT, "e2e/bin/demo.mjs")]);
  expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
  for (const seen of [
    "answers 401 WAUTH_001",
    "is final on chain",
    "so is its way back",
    "executed when it was due",
    "credited once",
  ])
    expect(output).toContain(seen);
  expect(output).toMatch(/ledger = chain: \d+ wallets compared, drift 0 KRW/);
});

/** Runs a command of a newcomer against the stack. */
async function run(command: string, args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, WONRAIL_HOME: stack.home.dir, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, output };
}
