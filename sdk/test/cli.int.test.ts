// The command line example when answers are lost: scripts must see that it may have been done, and people with what to go on.
import { execFile } from "node:child_process";
import { join } from "node:path";
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

async function cli(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, WONRAIL_BASE_URL: server.url, WONRAIL_API_KEY: "wk_test_1" };
  return new Promise((resolve) => {
    execFile(process.execPath, [EXAMPLE, ...args], { env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

const LOST: Fault[] = ["drop after", "502 page after", "drop after"];

test("a record of which no answer came is 5 and tells its key, which makes it no second time", async () => {
  server = await faultServer(LOST);
  const lost = await cli(...RENT);
  const [key] = server.effects;
  expect(lost).toMatchObject({ code: 5, stdout: "" });
  expect(lost.stderr).toContain(`--key ${key}`);
  expect(await cli(...RENT, "--key", key!)).toMatchObject({ code: 0 });
  expect(server.effects).toEqual([key]);
});

test("a key of one's own is sent from the start, and a refusal that may be repeated is 1", async () => {
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

test("with --json the key is in the failure", async () => {
  server = await faultServer(LOST);
  const { code, stderr } = await cli(...RENT, "--json");
  const told = JSON.parse(stderr) as object;
  expect(code).toBe(5);
  expect(told).toMatchObject({ code: "SDK_001", outcomeUnknown: true, idempotencyKey: server.effects[0] });
});

test("a look that got no answer is 3, and so is what was turned away", async () => {
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

test("an amount that is none is 2", async () => {
  server = await faultServer([]);
  expect(await cli(...RENT, "--amount", "1,5")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--amount must be a string of digits") as string,
  });
  expect(server.seen).toEqual([]);
});
