import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { rowsRead } from "@wonrail/kit/testing";
import { openWorld, type World } from "../../feed/testing/world";
import { listDeliveries } from "./deliveries";

const DELIVERIES = 40_000;
const FAILED = 3;
const PAGE = { limit: 20, offset: 0, after: null };

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** A webhook whose oldest deliveries failed, before many that arrived. */
async function makeDeliveries() {
  const orgId = newId("org");
  const wanted = { orgId, url: "https://bank.example/hook", eventTypes: [], description: "", after: null };
  const made = await world.app.createWebhook({ ...wanted, status: "DISABLED", ordering: "NONE" });
  const { webhookId } = made.webhook;
  await world.db.run(sql`
    insert into deliveries (org_id, webhook_id, delivery_id, event_id, event_type, object_id, sequence, status, finished_at)
    select ${orgId}, ${webhookId}, 'dlv_' || lpad(to_hex(n), 32, '0'), gen_random_uuid(), 'charge.created', 'chg', n,
      case when n <= ${FAILED} then 'FAILED' else 'DELIVERED' end, now()
    from generate_series(1, ${DELIVERIES}) n`);
  return { orgId, webhookId };
}

test("a page of a webhook's deliveries is read without the others", async () => {
  const key = await makeDeliveries();
  const read = await rowsRead(world.db, "deliveries", async (db) => {
    const { rows } = await listDeliveries(db, { ...key, status: null }, PAGE);
    expect(rows[0]).toMatchObject({ sequence: BigInt(DELIVERIES) });
    const failed = await listDeliveries(db, { ...key, status: "FAILED" }, PAGE);
    expect(failed).toMatchObject({ rows: [{ sequence: 3n }, { sequence: 2n }, { sequence: 1n }], total: 3 });
  });
  // The total of the first page counts up to its limit.
  expect(read).toBeLessThan(DELIVERIES / 2);
});
