import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { makeAuthority } from "../testing/certificates";
import { migrate } from "../migrate";
import { createTestDatabase, openTestDatabase, testLog, type TestDatabase } from "../testing";
import { sql, tx } from ".";

// Tests the guide's sslmode and sslrootcert. The test's Postgres has no TLS, so a TLS proxy is in
// front of it.

const folder = mkdtempSync(join(tmpdir(), "wonrail-tls-"));
const ours = makeAuthority("ours");
const caFile = join(folder, "ca.crt");
let database: TestDatabase;
const servers: Server[] = [];

beforeAll(async () => {
  database = await createTestDatabase({ schema: "sample" });
  writeFileSync(caFile, ours.issue("any", []).ca);
});
afterAll(async () => {
  for (const server of servers) server.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

test("a server with a certificate of the named authority is accepted, by pool and migrations", async () => {
  const port = await serve(["DNS:localhost"]);
  expect(await ask(database.url, port, `sslmode=verify-full&sslrootcert=${caFile}`)).toBe("asked");
  const url = urlOf(database.ownerUrl, port, `sslmode=verify-full&sslrootcert=${caFile}`);
  await expect(migrate({ url, schema: "sample", log: testLog() })).resolves.toMatchObject({ applied: [] });
});

test("a server with another name or authority is refused, also under sslmode=require", async () => {
  const named = `sslmode=verify-full&sslrootcert=${caFile}`;
  expect(await ask(database.url, await serve(["DNS:elsewhere"]), named)).toMatch(/altnames/);
  const strange = makeAuthority("another");
  expect(await ask(database.url, await serve(["DNS:localhost"], strange), named)).toMatch(/certificate/);
  const port = await serve(["DNS:localhost"]);
  expect(await ask(database.url, port, "sslmode=verify-full")).toMatch(/certificate/);
  expect(await ask(database.url, port, "sslmode=require")).toMatch(/certificate/);
});

test("a renewed authority applies from the next connection on", async () => {
  const port = await serve(["DNS:localhost"]);
  const file = join(folder, "renewed.crt");
  const search = `sslmode=verify-full&sslrootcert=${file}`;
  writeFileSync(file, makeAuthority("before").issue("any", []).ca);
  const db = openTestDatabase(urlOf(database.url, port, search), "sample", { max: 1 });
  await expect(db.ping()).rejects.toMatchObject({ code: "SYS_002" });
  writeFileSync(file, ours.issue("any", []).ca);
  await expect(db.ping()).resolves.toBeUndefined();
  await db.close();
});

test("a signal ends a transaction at once over TLS", async () => {
  const search = `sslmode=verify-full&sslrootcert=${caFile}`;
  const db = openTestDatabase(urlOf(database.url, await serve(["DNS:localhost"]), search), "sample", {
    max: 1,
  });
  const stop = new AbortController();
  const work = tx(
    db,
    async (tx) => {
      setTimeout(() => stop.abort(), 50);
      await tx.query(sql`select pg_sleep(3600)`);
    },
    { signal: stop.signal },
  );
  await expect(work).rejects.toMatchObject({ code: "SYS_002" });
  await db.ping();
  await db.close();
});

/** Returns "asked", or the reason of a failed connection. */
async function ask(url: string, port: number, search: string): Promise<string> {
  const db = openTestDatabase(urlOf(url, port, search), "sample", { max: 1 });
  try {
    await db.query(sql`select 1`);
    return "asked";
  } catch (error) {
    return String((error as Error).cause);
  } finally {
    await db.close();
  }
}

function urlOf(url: string, port: number, search: string): string {
  return Object.assign(new URL(url), { hostname: "localhost", port, search }).toString();
}

/** Answers SSLRequest with S, like a Postgres with ssl = on. */
async function serve(names: string[], authority = ours): Promise<number> {
  const { cert, key } = authority.issue("postgres", names);
  const { hostname: host, port } = new URL(database.url);
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write("S");
      const secured = new TLSSocket(socket, { isServer: true, cert, key });
      const upstream = connect(Number(port), host);
      for (const end of [secured, upstream]) end.on("error", () => socket.destroy());
      secured.pipe(upstream).pipe(secured);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return (server.address() as AddressInfo).port;
}
