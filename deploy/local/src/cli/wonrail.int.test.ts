import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const WONRAIL = join(__dirname, "../../bin/wonrail.mjs");
const NOWHERE = "postgres://wonrail:hidden@127.0.0.1:1/wonrail";
let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "wonrail-cli-"));
});
afterAll(() => rmSync(home, { recursive: true }));

test.each<[number, string, string]>([
  [0, "--help", "Usage: npx wonrail COMMAND"],
  [0, "drift ack --help", "Usage: wonrail drift ack"],
  [0, "down --help", "Usage: npx wonrail down"],
  [0, "stack -h", "npx wonrail stack start|stop|restart NAME"],
  [1, "stack status", "No stack is running in"],
  [2, "verfy", "Did you mean verify?"],
  [2, "verify --jsn", "unknown option '--jsn'"],
  [2, "org list", "The address of auth is unknown"],
  [2, "verify", "The database at 127.0.0.1:1 cannot be reached."],
])("exits with %d for %j", (code, commandLine, said) => {
  expect(run(commandLine, NOWHERE)).toEqual({ code, output: expect.stringContaining(said) });
});

test("exits with 78 for invalid configuration, which --help does not read", () => {
  expect(run("verify", "mysql://nowhere").code).toBe(78);
  expect(run("verify --help", "mysql://nowhere").code).toBe(0);
});

function run(commandLine: string, databaseUrl: string) {
  const env = { ...process.env, WONRAIL_HOME: home, DATABASE_URL: databaseUrl };
  const args = [WONRAIL, ...commandLine.split(" ")];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env });
  return { code: status, output: stdout + stderr };
}
