import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { setLanePause } from "../store/settlementQueues";
import { holdLease } from "../../sender/store/transactions";
import { dispatch } from "./dispatch";
import { createChainDouble, depsOn, OPERATOR } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { carry, operationOf, statesOf, takeIn } from "../../testing/operations";

const database = freshDatabase();

test("while custody is away, what is under way is looked after", async () => {
  const chain = createChainDouble();
  await takeIn(database.db, [operationOf()]);
  await carry(database.db, OPERATOR, { nonce: 0n });
  await takeIn(database.db, [operationOf()]);
  const away = () => Promise.reject(new Error("custody is away"));
  const wallet = { getWalletFacts: away, findWalletsByAddress: away, signAuthorizations: away } as never;
  const round = dispatch({ ...depsOn(database.db, chain), wallet }, new AbortController().signal);
  await expect(round).rejects.toThrow("custody is away");
  expect(chain.sent).toHaveLength(1);
});

test("a shelf that cannot be read keeps nothing from being planned", async () => {
  const { db } = database;
  const lane = newId("org");
  await db.run(sql`insert into lanes (org_id) values (${lane})`);
  await db.run(
    sql`insert into shelved_entries (org_id, events, entries) values (${lane}, ${Buffer.from([0xff])}, 1)`,
  );
  const operation = operationOf();
  await takeIn(db, [operation]);
  const away = () => Promise.reject(new Error("custody is away"));
  const wallet = { getWalletFacts: away, findWalletsByAddress: away, signAuthorizations: away } as never;
  const deps = { ...depsOn(db, createChainDouble()), wallet };
  await expect(dispatch(deps, new AbortController().signal)).rejects.toThrow("custody is away");
  expect(await statesOf(db, [operation])).toEqual([expect.stringContaining("PLANNED")]);
});

test("the writer keeps its lease through a round that takes longer than that", async () => {
  const chain = createChainDouble();
  await takeIn(database.db, [operationOf()]);
  await carry(database.db, OPERATOR, { nonce: 0n });
  const { receipts } = chain.provider;
  let other: unknown;
  chain.provider.receipts = async (hashes) => {
    await sleep(7_000);
    other = await holdLease(database.db, OPERATOR.address, "another process", 60_000);
    return receipts(hashes);
  };
  const deps = { ...depsOn(database.db, chain), leaseMs: 6_000 };
  await dispatch(deps, new AbortController().signal);
  expect(other).toBeNull();
  expect(chain.sent).toHaveLength(1);
});

test("a round says whether there was anything to do", async () => {
  const { db } = database;
  const round = () => dispatch(depsOn(db, createChainDouble()), new AbortController().signal);
  expect(await round()).toBe(false);
  const operation = operationOf();
  await takeIn(db, [operation]);
  await setLanePause(db, operation.orgId, "for later");
  expect(await round()).toBe(false);
  await setLanePause(db, operation.orgId, null);
  expect(await round()).toBe(true);
  await db.run(sql`update signers set holder = 'another process'`);
  expect(await round()).toBe(false);
});
