import { newId } from "@wonrail/kit/contract/ids";
import { depsForRecords, NORMAL, OUTSIDE } from "../../testing/schedules";
import { freshDatabase } from "../../testing/database";
import { dueTimeOf } from "../domain/record";
import { getRecord } from "../queries/getRecord";
import { takeDueRecords } from "../store/records";
import { tx } from "@wonrail/kit/db";
import { createRecord } from "./createRecord";
import { setClock } from "./testClock";
import { updateRecordSchedule } from "./updateRecordSchedule";

const database = freshDatabase();
const DAY_MS = 86_400_000;

test("a scheduled record is due when the test clock shows its time, and keeps the time that was asked for", async () => {
  const orgId = newId("org");
  const scheduledAt = new Date(Date.now() + 10 * DAY_MS);
  const record = await schedule(orgId, scheduledAt);
  const other = await schedule(newId("org"), scheduledAt);
  await setClock(database, { orgId, offsetMs: 9 * DAY_MS });
  expect(await dueIds()).toEqual([]);
  await setClock(database, { orgId, offsetMs: 10 * DAY_MS });
  const { record: read } = await getRecord(database, record);
  expect(read.scheduledAt).toEqual(scheduledAt);
  // The transfer's id contains the due time, which the ledger's journal reaches.
  expect(Math.abs(dueTimeOf(read).getTime() - Date.now())).toBeLessThan(60_000);
  expect(await dueIds()).toEqual([record.recordId]);
  expect((await getRecord(database, other)).record.dueAt).toBeNull();
});

test("times of new and changed schedules are those of the test clock", async () => {
  const orgId = newId("org");
  await setClock(database, { orgId, offsetMs: 30 * DAY_MS });
  const past = { details: { fields: [{ path: "scheduledAt", message: "must be in the future" }] } };
  await expect(schedule(orgId, new Date(Date.now() + 29 * DAY_MS))).rejects.toMatchObject(past);
  const record = await schedule(orgId, new Date(Date.now() + 31 * DAY_MS));
  expect(await dueIds()).toEqual([]);
  const changed = updateRecordSchedule(depsForRecords(database.db), {
    ...{ orgId, recordId: record.recordId, scheduledAt: new Date(Date.now() + 29 * DAY_MS) },
  });
  await expect(changed).rejects.toMatchObject(past);
  await setClock(database, { orgId, offsetMs: 31 * DAY_MS });
  expect(await dueIds()).toEqual([record.recordId]);
});

test("a record on a main network has no test clock", async () => {
  const orgId = newId("org");
  await setClock(database, { orgId, offsetMs: 30 * DAY_MS });
  const deps = depsForRecords(database.db);
  const main = { ...deps, chain: { ...deps.chain, network: "WON_MAINNET" } };
  const record = await schedule(orgId, new Date(Date.now() + DAY_MS), main);
  expect(record.dueAt).toBeNull();
});

async function schedule(orgId: string, scheduledAt: Date, deps = depsForRecords(database.db)) {
  const network = deps.chain.network;
  const fields = {
    ...{ fromNetworkType: network, toNetworkType: network, fromAddress: NORMAL, toAddress: OUTSIDE },
    ...{ amount: "3000000", scheduledAt },
  };
  return (await createRecord(deps, { orgId, paymentType: "SCHEDULED", fields, key: null })).record;
}

async function dueIds(): Promise<string[]> {
  const due = await tx(database.db, (tx) => takeDueRecords(tx, 0, 10));
  return due.map(({ recordId }) => recordId);
}
