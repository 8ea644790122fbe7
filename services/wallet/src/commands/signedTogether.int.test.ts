import { setTimeout as sleep } from "node:timers/promises";
import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import type { AuthorizationIntent } from "@wonrail/proto/wallet/v1/wallet";
import { untilWaiting } from "./testing/moments";
import { nonceOf, secondsFromNow, signingBench } from "./testing/signing";

// Several legs of one operation, in one call or in concurrent calls: together they sign at most its
// amount.

const bench = signingBench();
const { makeWallet, sign, transferOf } = bench;

test("two concurrent payers of one payee get no more signed than the payee's share", async () => {
  const { ledgerRef, other } = await addTwoPayerEntry(600n, 400n);
  const answers = await meeting(
    [bench.payer, other].map(
      ({ walletId }, index) =>
        () =>
          sign({ ...transferOf(600n - 200n * BigInt(index)), ledgerRef, fromWalletId: walletId }),
    ),
  );
  expect(answers.flat().sort()).toEqual([expect.stringMatching(/^0x/), "not_in_operation"]);
});

test("one of twenty concurrent nonces for a leg is signed, and repeated with a later end", async () => {
  const intent = transferOf(500n);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, number) => signWithRetry({ ...intent, nonce: nonceOf(number + 1) })),
  );
  const signed = answers.flatMap((answer, number) => (answer.startsWith("0x") ? [number] : []));
  expect(signed).toHaveLength(1);
  expect(new Set(answers.filter((answer) => !answer.startsWith("0x")))).toEqual(
    new Set(["signed_otherwise"]),
  );
  const again = { ...intent, nonce: nonceOf(signed[0]! + 1), validBefore: secondsFromNow(1_200) };
  expect(await sign(again)).toEqual([expect.stringMatching(/^0x/)]);
  // Custody cannot know whether the first authorization was used before it ended.
  await bench.world.database.db.run(
    sql`update authorizations set valid_before = now() - interval '1 day' where ledger_ref = ${intent.ledgerRef}`,
  );
  expect(await sign({ ...intent, nonce: nonceOf(99) })).toEqual(["signed_otherwise"]);
  expect(await sign(again)).toEqual([expect.stringMatching(/^0x/)]);
}, 60_000);

test("the first of two nonces for one leg in one call is signed", async () => {
  const intent = transferOf(500n);
  const again = { ...intent, nonce: nonceOf(2) };
  expect(await sign(intent, again, intent)).toEqual([
    expect.stringMatching(/^0x/),
    "signed_otherwise",
    expect.stringMatching(/^0x/),
  ]);
});

test("a leg that another writer stored without the lock is signed under its nonce only", async () => {
  const intent = transferOf(500n);
  let answer: Promise<string[]> | undefined;
  await tx(bench.world.database.db, async (tx) => {
    await tx.run(sql`
      insert into authorizations (org_id, ledger_ref, from_wallet_id, kind, to_address, nonce, amount_won, valid_before)
      values (${bench.orgId}, ${intent.ledgerRef}, ${bench.payer.walletId}, 'TRANSFER',
        ${bench.payee.walletAddress.toLowerCase()}, ${nonceOf(2)}, 500, now())`);
    answer = sign(intent);
    answer.catch(() => undefined);
    await untilWaiting(bench.world.database.db, 1);
  });
  await expect(answer).rejects.toMatchObject({ code: "SYS_002" });
  expect(await sign(intent)).toEqual(["signed_otherwise"]);
});

test("two concurrent legs of one operation get no more signed than leaves the wallet", async () => {
  const { ledgerRef, shop } = await addTwoPayerEntry(100n, 100n);
  const answers = await meeting(
    [bench.payee, shop].map(
      ({ walletAddress }) =>
        () =>
          sign({ ...transferOf(100n), ledgerRef, toAddress: walletAddress }),
    ),
  );
  expect(answers.flat().sort()).toEqual([expect.stringMatching(/^0x/), "not_in_operation"]);
});

test("a call that waits for the first payer holds no lock on the others", async () => {
  const others = await Promise.all(
    [...Array(8).keys()].map((user) => makeWallet(bench.orgId, `user-${user}`)),
  );
  const [first, ...later] = [bench.payer, ...others].map(({ walletId }) => walletId).sort();
  let answers: Promise<string[]> | undefined;
  await tx(bench.world.database.db, async (tx) => {
    await tx.run(sql`select from wallets where wallet_id = ${first!} for update`);
    answers = sign(...[...later.toReversed(), first!].map((walletId) => transferOf(10n, walletId)));
    await untilWaiting(bench.world.database.db, 1);
    const free = await tx.run(
      sql`select from wallets where wallet_id = any(${later}::text[]) for update skip locked`,
    );
    expect(free).toBe(8);
  });
  expect(await answers).toEqual(Array(9).fill(expect.stringMatching(/^0x/)));
});

/** An entry with two payers of these amounts, and the payee and a shop as receivers. */
async function addTwoPayerEntry(firstWon: bigint, secondWon: bigint) {
  const { orgId, payer, payee, world } = bench;
  const [shop, other] = [await makeWallet(orgId, "shop"), await makeWallet(orgId, "other")];
  const ledgerRef = newId("pay");
  const lines: [string, bigint][] = [
    [payer.walletId, -firstWon],
    [other.walletId, -secondWon],
    [payee.walletId, firstWon],
    [shop.walletId, secondWon],
  ];
  world.ledger.addEntry({ orgId, ledgerRef, lines });
  return { ledgerRef, shop, other };
}

/** Asks again after a conflict on the same leg, as the relayer does. */
async function signWithRetry(intent: AuthorizationIntent): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    try {
      return (await sign(intent))[0]!;
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(20);
    }
  }
}

/** Starts all calls before any of them reaches the hour's sums. */
async function meeting<T>(calls: (() => Promise<T>)[]): Promise<T[]> {
  let answers: Promise<T[]> | undefined;
  await tx(bench.world.database.db, async (tx) => {
    await tx.run(sql`lock table velocity in access exclusive mode`);
    answers = Promise.all(calls.map((call) => call()));
    await untilWaiting(bench.world.database.db, calls.length);
  });
  return answers!;
}
