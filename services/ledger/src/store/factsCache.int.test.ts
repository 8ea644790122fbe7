import { tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { requestOf, soundLedger } from "../commands/testing/ledger";
import { createFactsCache, type FactsCache } from "./factsCache";
import { loadState } from "./state";

const ledger = soundLedger();
let normal: string;
let incentive: string;
let shop: string;

beforeAll(async () => {
  shop = await ledger.open("shop", "NORMAL");
  [normal, incentive] = [await ledger.open("kim", "NORMAL"), await ledger.open("kim", "INCENTIVE")];
});

function load(cache: FactsCache, payerWalletId: string): Promise<unknown> {
  const request = requestOf(ledger.orgId, {
    kind: "payment",
    payerWalletId,
    receiverWalletId: shop,
    amountWon: won(10n),
    incentiveAmountWon: null,
    accrualRateBps: 0,
  });
  return tx(ledger.database.db, (tx) => loadState(tx, cache, [request], () => undefined));
}

function use(cache: FactsCache, walletId: string): Promise<unknown> {
  return tx(ledger.database.db, (tx) => cache.load(tx, new Set([ledger.orgId]), new Set([walletId])));
}

test("an evicted user is cached again with all wallets", async () => {
  const cache = createFactsCache(4);
  await use(cache, normal);
  await load(cache, normal);
  const kims = expect.objectContaining({ walletIds: new Set([normal, incentive]) });
  expect(cache.userOf(ledger.orgId, normal)).toEqual(kims);
  expect(cache.userOf(newId("org"), normal)).toBeUndefined();
  for (const userId of ["lee", "park"]) await use(cache, await ledger.open(userId, "NORMAL"));
  expect(cache.userOf(ledger.orgId, normal)).toBeUndefined();
  await load(cache, normal);
  expect(cache.userOf(ledger.orgId, normal)).toEqual(kims);
});

test("a user whose wallets do not fit into the cache is never treated as complete", async () => {
  for (const payer of [normal, incentive]) {
    const cache = createFactsCache(1);
    await load(cache, payer);
    expect(cache.userOf(ledger.orgId, payer)).toBeUndefined();
  }
});
