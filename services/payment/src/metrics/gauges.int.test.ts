import { join } from "node:path";
import { openDatabase } from "@wonrail/kit/db";
import { Registry } from "@wonrail/kit/metrics";
import { createTestDatabase, eventually, startProxy, testLog } from "@wonrail/kit/testing";
import { createGauges } from "./gauges";

test("what a database that is away cannot say has no value, and takes nothing else with it", async () => {
  const database = await createTestDatabase({
    schema: "payment",
    migrations: join(__dirname, "../../migrations"),
  });
  const url = new URL(database.url);
  const proxy = await startProxy({ target: { host: url.hostname, port: Number(url.port) } });
  url.hostname = proxy.host;
  url.port = String(proxy.port);
  const options = { schema: "payment", applicationName: "test", max: 1, log: testLog() };
  const db = openDatabase({ url: url.toString(), ...options });
  const registry = new Registry();
  createGauges({ db, registry });
  const told = async () => (await registry.metrics()).match(/^\w+ \S+$/gm);
  const known = ["payment_abandoned_operations 0", "payment_pending_transfers_oldest_seconds 0"];
  try {
    expect(await told()).toEqual(known);
    proxy.setMode({ kind: "reset" });
    expect(await told()).toBeNull();
    proxy.setMode({ kind: "pass" });
    await eventually(async () => expect(await told()).toEqual(known));
  } finally {
    await db.close();
    await proxy.close();
    await database.drop();
  }
}, 30_000);
