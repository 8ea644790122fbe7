import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "./ops/repository";
import { startStack, type TestStack } from "./support/startStack";

// The story that newcomers are told first, told to its end as they start it: by the compiled command, in a terminal of its own.
jest.setTimeout(480_000);

let stack: TestStack;

beforeAll(async () => {
  stack = await startStack({ bus: "postgres" });
});
afterAll(async () => {
  await stack?.stop();
});

test("make demo ends well: everything is final, and both books agree", async () => {
  const { code, output } = await demo();
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

async function demo(): Promise<{ code: number; output: string }> {
  const story = spawn(process.execPath, [join(ROOT, "e2e/bin/demo.mjs")], {
    cwd: ROOT,
    env: { ...process.env, WONRAIL_HOME: stack.home.dir, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [story.stdout, story.stderr])
    stream.on("data", (text: Buffer) => (output += text.toString()));
  const [code] = (await once(story, "close")) as [number];
  return { code, output };
}
