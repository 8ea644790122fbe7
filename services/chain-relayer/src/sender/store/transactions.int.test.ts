import { setTimeout as sleep } from "node:timers/promises";
import { sql, tx } from "@wonrail/kit/db";
import { NEXT_OPERATOR, OPERATOR } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { signWaitingOperations, operationOf, ingestOperations } from "../../testing/operations";
import {
  countPendingTransactions,
  fence,
  acquireLease,
  LeaseLostError,
  releaseLease,
  renewLeaseDuring,
} from "./transactions";

const database = freshDatabase();
const { address } = OPERATOR;

const hold = (holder: string, ttlMs = 60_000) => acquireLease(database.db, address, holder, ttlMs);
const endLease = () =>
  database.db.run(sql`update signers set lease_ends_at = clock_timestamp() where address = ${address}`);

test("one of two replicas holds the lease for as long as it renews", async () => {
  const [one, other] = await Promise.all([hold("one"), hold("other")]);
  const [holder, standby] = one ? ["one", "other"] : ["other", "one"];
  expect([one, other].filter((lease) => lease !== null)).toEqual([{ signer: address, holder, epoch: 1n }]);
  expect([await hold(standby), await hold(holder)]).toEqual([null, { signer: address, holder, epoch: 1n }]);
});

test("an expired lease is renewed under the next epoch, although nobody held it meanwhile", async () => {
  const before = (await hold("one"))!;
  await endLease();
  expect(await hold("one")).toMatchObject({ epoch: before.epoch + 1n });
  await expect(tx(database.db, (tx) => fence(tx, before))).rejects.toThrow(LeaseLostError);
});

test("a lease with an impossible end, after a clock was set back, is taken over, and its holder is fenced", async () => {
  const lease = (await hold("one"))!;
  const lasts = (interval: string) =>
    database.db.run(
      sql`update signers set lease_ends_at = clock_timestamp() + ${interval}::interval where address = ${address}`,
    );
  await lasts("110 seconds");
  expect(await hold("other")).toBeNull();
  await lasts("1 hour");
  expect(await hold("other")).toMatchObject({ epoch: lease.epoch + 1n });
  await expect(tx(database.db, (tx) => fence(tx, lease))).rejects.toThrow(LeaseLostError);
});

test("a released lease is free at once, and only its holder can release it", async () => {
  await hold("one");
  await acquireLease(database.db, NEXT_OPERATOR.address, "one", 60_000);
  await releaseLease(database.db, address, "other");
  expect(await hold("other")).toBeNull();
  await releaseLease(database.db, address, "one");
  expect(await hold("other")).toMatchObject({ epoch: 2n });
  await releaseLease(database.db, address, "one");
  expect(await hold("one")).toBeNull();
  expect(await acquireLease(database.db, NEXT_OPERATOR.address, "other", 60_000)).toBeNull();
});

test("a lease that expired while its holder was stalled is not renewed", async () => {
  const lease = (await hold("one", 600))!;
  await renewLeaseDuring(database.db, lease, 600, async () => {
    await endLease();
    await sleep(500);
  });
  expect(await hold("other")).not.toBeNull();
});

test("work under a lost lease does not renew its successor's", async () => {
  const lease = (await hold("one", 300))!;
  await endLease();
  await hold("other", 300);
  await renewLeaseDuring(database.db, lease, 300, () => sleep(600));
  expect(await hold("third")).not.toBeNull();
});

test("pending transactions are the signed and unmined ones of one signer", async () => {
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, NEXT_OPERATOR, { nonce: 0n });
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, NEXT_OPERATOR, { nonce: 1n });
  const counts = () =>
    Promise.all([OPERATOR, NEXT_OPERATOR].map((of) => countPendingTransactions(database.db, of.address)));
  expect(await counts()).toEqual([1, 2]);
  await database.db.run(sql`update transactions set state = 'SENT' where nonce = 0`);
  expect(await counts()).toEqual([1, 2]);
  await database.db.run(sql`update transactions set state = 'MINED' where nonce = 0`);
  expect(await counts()).toEqual([0, 1]);
});
