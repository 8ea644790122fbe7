import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { randomFreePort } from "../process/freePort";
import { startGuard } from "../process/guard";
import { startProcess } from "../process/ownedProcess";
import { until } from "../process/testProcess";
import { fingerprint } from "../process/fingerprint";
import { preparePostgres, type PostgresPart } from "./postgres";

const guard = startGuard();
const asRoot = process.getuid?.() === 0;
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "wonrail-pg-"));
  chmodSync(dir, 0o711);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
afterAll(() => guard.close());

async function prepare(folder = dir): Promise<PostgresPart> {
  return preparePostgres({
    dir: join(folder, "postgres"),
    logFile: join(folder, "postgres.log"),
    port: await randomFreePort(),
    password: "secret",
    durable: true,
    maxConnections: 20,
  });
}

async function ask(url: string, text: string): Promise<Record<string, string>> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query<Record<string, string>>(text);
  await client.end();
  return rows[0]!;
}

const SETTINGS = `select current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
  current_setting('synchronous_commit') as synchronous, current_setting('listen_addresses') as listens,
  current_setting('unix_socket_directories') as sockets`;

test("the cluster is UTF-8, durable and on the loopback interface only, in any locale of the caller", async () => {
  const part = await prepare();
  const owned = await startProcess(part.spec, guard);
  expect(await ask(part.adminUrl, SETTINGS)).toEqual({
    encoding: "UTF8",
    fsync: "on",
    synchronous: "on",
    listens: "127.0.0.1",
    sockets: "",
  });
  await owned.stop();
}, 90_000);

test("refuses a connection without the password, also from local users", async () => {
  const part = await prepare();
  const owned = await startProcess(part.spec, guard);
  await expect(ask(part.adminUrl.replace("secret", "guess"), "select 1")).rejects.toThrow(
    "password authentication failed",
  );
  await owned.stop();
}, 90_000);

test("committed rows survive a kill, and its remains do not delay the next start", async () => {
  const part = await prepare();
  const first = await startProcess(part.spec, guard);
  await ask(part.adminUrl, "create table kept as select 42 as answer");
  process.kill(first.pid, "SIGKILL");
  await first.exited;
  // The dead server's process id now belongs to another process of the same user, here the test.
  writeFileSync(join(part.dataDir, "postmaster.pid"), `${process.pid}\n`);
  const second = await startProcess(part.spec, guard);
  expect(await ask(part.adminUrl, "select answer::text from kept")).toEqual({ answer: "42" });
  await second.stop();
}, 90_000);

test("an unsupervised server is ended before another starts on its folder", async () => {
  const part = await prepare();
  const forgotten = await startProcess(part.spec, guard);
  const second = await startProcess(part.spec, guard);
  await until(() => fingerprint(forgotten.pid) === undefined);
  expect(await ask(part.adminUrl, "select 'up' as state")).toEqual({ state: "up" });
  await second.stop();
}, 90_000);

(asRoot ? test : test.skip)(
  "as root, in a folder that the postgres user cannot enter, the data is elsewhere",
  async () => {
    chmodSync(dir, 0o700);
    const part = await prepare();
    expect(part.dataDir).toMatch(/^\/var\/tmp\/wonrail-data-/);
    const owned = await startProcess(part.spec, guard);
    expect(statSync(part.dataDir).uid).not.toBe(0);
    await owned.stop();
    rmSync(join(part.dataDir, ".."), { recursive: true });
  },
  90_000,
);

test("an interrupted first start is repeated from scratch", async () => {
  const part = await prepare();
  rmSync(part.dataDir, { recursive: true });
  execFileSync("mkdir", ["-p", join(part.dataDir, "../unfinished/base")]);
  await prepare();
  expect(existsSync(join(part.dataDir, "PG_VERSION"))).toBe(true);
  expect(existsSync(join(part.dataDir, "../unfinished"))).toBe(false);
}, 90_000);
