import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createApp } from "@wonrail/events/app";
import { newId } from "@wonrail/kit/contract/ids";
import { type Database, openDatabase, rawSql, tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { createLog } from "@wonrail/kit/log";
import { Registry } from "@wonrail/kit/metrics";
import { migrate, provisionSchema } from "@wonrail/kit/migrate";
import { chargeEntry } from "@wonrail/kit/records/testing/entries";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";

const log = createLog({ service: "bench", level: "error" });
const MIGRATIONS = join(__dirname, "../../../services/events/migrations");

/** The events service on a database of its own, and a receiver of deliveries. */
export async function createWorld(clusterUrl: string) {
  const db = await openEvents(clusterUrl);
  const folder = mkdtempSync(join(tmpdir(), "wonrail-bench-"));
  const kekPath = join(folder, "kek.json");
  const keys = { bench: randomBytes(32).toString("base64") };
  writeFileSync(kekPath, JSON.stringify({ current: "bench", keys }), { mode: 0o600 });
  const closers: (() => Promise<void> | void)[] = [];
  const config = { NETWORK: "WON_TESTNET", WEBHOOK_KEK_PATH: kekPath, WEBHOOK_ALLOW_LOOPBACK: true } as never;
  const onClose = (_name: string, close: () => Promise<void> | void) => void closers.push(close);
  const app = await createApp({ config, db, log, registry: new Registry(), onClose });
  const receiver = await startReceiver();
  const orgId = newId("org");

  /** Returns events per second. */
  async function publish(count: number, batch: number): Promise<number> {
    const startMs = performance.now();
    for (let made = 0; made < count; made += batch)
      await tx(db, (tx) =>
        app.projectJournal(
          tx,
          Array.from({ length: batch }, () => posted(orgId)),
        ),
      );
    return count / ((performance.now() - startMs) / 1000);
  }

  return {
    publish,
    async subscribe(endpoints: number): Promise<void> {
      const wanted = { orgId, url: receiver.url, eventTypes: [], description: "", after: null };
      for (let made = 0; made < endpoints; made += 1)
        await app.createWebhook({ ...wanted, status: "ENABLED", ordering: "NONE" });
    },
    delivered: (count: number) => receiver.until(count),
    /** Publishes evenly, and returns the 99th percentile of the time to the receiver in ms. */
    async paced(deliveries: number, eventsPerSecond: number): Promise<number> {
      await receiver.until(receiver.seen.length);
      receiver.seen.length = 0;
      const committed = new Map<string, number>();
      const pauseMs = 1_000 / eventsPerSecond;
      for (let dueMs = performance.now(); receiver.seen.length < deliveries; dueMs += pauseMs) {
        const event = posted(orgId);
        await tx(db, (tx) => app.projectJournal(tx, [event]));
        committed.set(event.aggregateId, performance.now());
        await sleep(Math.max(0, dueMs - performance.now()));
      }
      const delays = receiver.seen.map(({ objectId, atMs }) => atMs - (committed.get(objectId) ?? atMs));
      return delays.sort((one, other) => one - other)[Math.floor(delays.length * 0.99)]!;
    },
    async close(): Promise<void> {
      for (const close of closers) await close();
      receiver.close();
      await db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openEvents(clusterUrl: string): Promise<Database> {
  const name = `bench_${randomBytes(4).toString("hex")}`;
  const cluster = openDatabase({ url: clusterUrl, schema: "public", applicationName: "bench", log });
  await cluster.run(rawSql(`create database ${name}`));
  await cluster.close();
  const base = new URL(clusterUrl);
  base.pathname = `/${name}`;
  const passwords = { rolePassword: "bench", ownerPassword: "bench" };
  const { url, ownerUrl } = await provisionSchema({
    adminUrl: base.toString(),
    schema: "events",
    ...passwords,
  });
  await migrate({ url: ownerUrl, schema: "events", dir: MIGRATIONS, log });
  return openDatabase({ url, schema: "events", applicationName: "bench", log });
}

/** The aggregate is the charge, so that a delivery can be found by its object. */
function posted(orgId: string): ReceivedEvent {
  const entry = chargeEntry(newId("wal"), 5_000n, 5_000n);
  const payload = Buffer.from(JournalPosted.encode({ entries: [entry] }).finish());
  return {
    ...{
      id: newId("evt"),
      type: "journal_posted",
      topic: "bench",
      aggregateId: entry.requestId,
      orgId,
      payload,
    },
    ...{ version: 1n, occurredAt: new Date(), traceparent: "", requestId: "" },
  };
}

async function startReceiver() {
  const seen: { objectId: string; atMs: number }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      seen.push({ objectId: (JSON.parse(body) as { objectId: string }).objectId, atMs: performance.now() });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    seen,
    async until(count: number): Promise<void> {
      while (seen.length < count) await sleep(20);
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
