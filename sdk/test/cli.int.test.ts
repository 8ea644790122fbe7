// The command line example when answers are lost: exit codes tell scripts that the call may have
// been executed, and people get the facts to continue.
import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Fault, faultServer, type FaultServer } from "./support/faultServer.ts";

const EXAMPLE = join(__dirname, "../examples/cli/index.js");
const ADDRESS = `0x${"ab".repeat(20)}`;
const RENT = [
  "create",
  "--at",
  "2099-01-14T09:30:00+09:00",
  "--from",
  ADDRESS,
  "--to",
  ADDRESS,
  "--amount",
  "1",
];
let server: FaultServer;
afterEach(() => server.close());

type CliResult = { code: number; stdout: string; stderr: string };

async function cli(...args: string[]): Promise<CliResult> {
  return begin(args).ended;
}

function begin(args: string[]): { child: ChildProcess; ended: Promise<CliResult> } {
  const env = { ...process.env, WONRAIL_BASE_URL: server.url, WONRAIL_API_KEY: "wk_test_1" };
  const child = execFile(process.execPath, [EXAMPLE, ...args], { env, timeout: 60_000 });
  return { child, ended: told(child) };
}

async function told(child: ChildProcess): Promise<CliResult> {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, "close") as Promise<[number | null]>,
  ]);
  return { code: code ?? -1, stdout, stderr };
}

const LOST: Fault[] = ["drop after", "502 page after", "drop after"];

test("a record without an answer exits with 5 and prints its key, which prevents a second record", async () => {
  server = await faultServer(LOST);
  const lost = await cli(...RENT);
  const [key] = server.effects;
  expect(lost).toMatchObject({ code: 5, stdout: "" });
  expect(lost.stderr).toContain(`--key ${key}`);
  expect(await cli(...RENT, "--key", key!)).toMatchObject({ code: 0 });
  expect(server.effects).toEqual([key]);
});

test("a given key is sent from the start, and a retryable refusal exits with 1", async () => {
  server = await faultServer(["400 before"]);
  const refused = await cli(...RENT, "--key", "rent-2099-01");
  expect(refused.code).toBe(1);
  expect(refused.stderr).not.toContain("may have been done");
  await cli(...RENT, "--key", "rent-2099-01");
  expect(server.seen.map(({ key }) => key)).toEqual(["rent-2099-01", "rent-2099-01"]);
  expect(await cli(...RENT, "--key", "")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/REQ_001/) as string,
  });
  expect(server.seen).toHaveLength(2);
});

test("--json puts the key into the failure", async () => {
  server = await faultServer(LOST);
  const { code, stderr } = await cli(...RENT, "--json");
  const told = JSON.parse(stderr) as object;
  expect(code).toBe(5);
  expect(told).toMatchObject({ code: "SDK_001", outcomeUnknown: true, idempotencyKey: server.effects[0] });
});

test("a read without an answer and a call that was not executed exit with 3", async () => {
  server = await faultServer([...LOST, "503 before", "503 before", "503 before"]);
  expect((await cli("list")).code).toBe(3);
  expect((await cli(...RENT)).code).toBe(3);
});

test.each(["pending", "PENDING", "confirmed"])(
  "to wait until a record is %s, which none ever becomes, is 2 at once",
  async (until) => {
    server = await faultServer([]);
    const refused = await cli("wait", "txn_1", "--until", "CONFIRMED", "--until", until);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain(`--until must be CONFIRMED or FAILED, not ${until}.`);
    expect(server.seen).toEqual([]);
  },
);

test("an invalid amount exits with 2", async () => {
  server = await faultServer([]);
  expect(await cli(...RENT, "--amount", "1,5")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--amount must be a string of digits") as string,
  });
  expect(server.seen).toEqual([]);
});

test.each<[string, string[]]>([
  ["which record is the last", ["get", "last"]],
  ["which record is the last, to reschedule it", ["schedule", "last", "--at", "+1m"]],
  ["which record is the last, to settle it", ["status", "last", "--to", "CONFIRMED"]],
  ["which record is the last, to wait for it", ["wait", "last"]],
  ["the example's wallet", ["create", "--at", "2099-01-14T09:30:00+09:00", "--to", ADDRESS, "--amount", "1"]],
])("the first interruption ends a command whose service hangs at %s", async (_, args) => {
  server = await faultServer(["slow after", "slow after", "slow after"]);
  const { child, ended } = begin(args);
  while (server.seen.length === 0) await sleep(20);
  child.kill("SIGINT");
  // Not after the library's own 30 seconds, as SDK_002 or at a later try.
  expect(await ended).toMatchObject({
    code: 130,
    stdout: "",
    stderr: expect.stringMatching(/^SDK_003/) as string,
  });
  expect(server.seen).toHaveLength(1);
});
