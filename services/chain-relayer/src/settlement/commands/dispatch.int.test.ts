import { setTimeout as sleep } from "node:timers/promises";
import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { setQueuePause } from "../store/settlementQueues";
import { acquireLease } from "../../sender/store/transactions";
import { recordHeads } from "./correctHeads";
import { dispatch } from "./dispatch";
import { createChainDouble, depsOn, OPERATOR } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { signWaitingOperations, operationOf, statesOf, ingestOperations } from "../../testing/operations";

const database = freshDatabase();

test("sent transactions are watched while custody is away", async () => {
  const chain = createChainDouble();
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  await ingestOperations(database.db, [operationOf()]);
  const away = () => Promise.reject(new Error("custody is away"));
  const wallet = { getWalletFacts: away, findWalletsByAddress: away, signAuthorizations: away } as never;
  const round = dispatch({ ...depsOn(database.db, chain), wallet }, new AbortController().signal);
  await expect(round).rejects.toThrow("custody is away");
  expect(chain.sent).toHaveLength(1);
});

test("pulled operations are planned while the ledger is away", async () => {
  const { db } = database;
  await tx(db, (tx) => recordHeads(tx, [{ orgId: newId("org"), sequence: 5n }]));
  const operation = operationOf();
  await ingestOperations(db, [operation]);
  const away = () => Promise.reject(new Error("it is away"));
  const wallet = { getWalletFacts: away, findWalletsByAddress: away, signAuthorizations: away } as never;
  const ledger = { listJournal: away, listJournalHeads: away };
  const deps = { ...depsOn(db, createChainDouble()), wallet, ledger };
  await expect(dispatch(deps, new AbortController().signal)).rejects.toThrow("it is away");
  expect(await statesOf(db, [operation])).toEqual([expect.stringContaining("PLANNED")]);
});

test("the writer renews its lease during a long round", async () => {
  const chain = createChainDouble();
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  const { receipts } = chain.provider;
  let other: unknown;
  chain.provider.receipts = async (hashes) => {
    await sleep(7_000);
    other = await acquireLease(database.db, OPERATOR.address, "another process", 60_000);
    return receipts(hashes);
  };
  const deps = { ...depsOn(database.db, chain), leaseMs: 6_000 };
  await dispatch(deps, new AbortController().signal);
  expect(other).toBeNull();
  expect(chain.sent).toHaveLength(1);
});

test("a round reports whether it had work", async () => {
  const { db } = database;
  const round = () => dispatch(depsOn(db, createChainDouble()), new AbortController().signal);
  expect(await round()).toBe(false);
  const operation = operationOf();
  await ingestOperations(db, [operation]);
  await setQueuePause(db, operation.orgId, "for later");
  expect(await round()).toBe(false);
  await setQueuePause(db, operation.orgId, null);
  expect(await round()).toBe(true);
  await db.run(sql`update signers set holder = 'another process'`);
  expect(await round()).toBe(false);
});
