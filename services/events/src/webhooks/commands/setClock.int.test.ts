import { join } from "node:path";
import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { endWaits } from "../store/deliveries";
import { setClock } from "./setClock";

const HOUR_MS = 3_600_000;
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({
    schema: "events",
    migrations: join(__dirname, "../../../migrations"),
  });
});
afterAll(() => database.drop());

test("an advance of the test clock brings the organisation's retries nearer, once", async () => {
  const [orgId, other] = [newId("org"), newId("org")];
  for (const one of [orgId, other]) await insertWaiting(one);
  expect(await retrySoon(orgId)).toBe(false);
  await setClock(database, { orgId, offsetMs: HOUR_MS });
  await setClock(database, { orgId, offsetMs: HOUR_MS });
  expect(await retrySoon(orgId)).toBe(false);
  await setClock(database, { orgId, offsetMs: 5 * HOUR_MS });
  expect(await retrySoon(orgId)).toBe(true);
  expect(await retrySoon(other)).toBe(false);
  expect(await endWaits(database.db, 10)).toBe(1);
});

test("the lease of an attempt under way stays", async () => {
  const orgId = newId("org");
  await insertWaiting(orgId);
  await database.db.run(sql`
    update deliveries set next_attempt_at = now() - interval '1 minute', waits_until = now() + interval '1 minute'
    where org_id = ${orgId}`);
  await setClock(database, { orgId, offsetMs: 5 * HOUR_MS });
  expect(
    await database.db.one(sql`select waits_until > now() as leased from deliveries where org_id = ${orgId}`),
  ).toEqual({ leased: true });
});

/** A delivery whose next attempt is in four hours and a half. */
async function insertWaiting(orgId: string): Promise<void> {
  const webhookId = newId("whk");
  await database.db.run(sql`
    insert into webhooks (org_id, webhook_id, url, event_types, description, status, ordering, after_sequence,
      secret_version, kek_id, sealed_secret)
    values (${orgId}, ${webhookId}, 'https://partner.example/', '{}', '', 'ENABLED', 'NONE', 0, 1, 'kek', '')`);
  await database.db.run(sql`
    insert into deliveries (org_id, webhook_id, delivery_id, event_id, event_type, object_id, attempts, next_attempt_at, waits_until)
    values (${orgId}, ${webhookId}, ${newId("dlv")}, gen_random_uuid(), 'charge.created', 'chg', 3,
      now() + interval '270 minutes', now() + interval '270 minutes')`);
}

async function retrySoon(orgId: string): Promise<boolean> {
  const { soon } = await database.db.one<{ soon: boolean }>(sql`
    select next_attempt_at <= now() and waits_until <= now() as soon from deliveries where org_id = ${orgId}`);
  return soon;
}
