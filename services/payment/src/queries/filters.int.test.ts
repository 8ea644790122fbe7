import fc from "fast-check";
import { MAX_OFFSET_ROWS, readPage } from "@wonrail/kit/page";
import { isId, newId } from "@wonrail/kit/contract/ids";
import { rawSql } from "@wonrail/kit/db";
import { enumName } from "@wonrail/kit/grpc/client";
import { openTestDatabase } from "@wonrail/kit/testing";
import { type Charge, ChargeStatus, SettlementStatus } from "@wonrail/proto/payment/v1/payment";
import { catchUp, confirmed, deliver, failed, submitted } from "../commands/testing/events";
import { cancelCharge, charge } from "../commands/testing/commands";
import { openWorld, type World, valueOf } from "../commands/testing/world";
import { type ListFilter } from "../store/listRows";

let world: World;
const wallets: string[] = [];
let all: Charge[];

beforeAll(async () => {
  world = await openWorld();
  for (let n = 0; n < 2; n += 1) wallets.push((await world.openWallet()).walletId);
  for (let n = 0; n < 24; n += 1) {
    const notes = n % 3 === 0 ? {} : { reference: `order-${n % 4}` };
    const command = charge(wallets[n % 2]!, 1_000 + 100 * (n % 5), notes);
    const { chargeId } = valueOf(await world.execute(command), "charge");
    if (n % 4 === 1) await world.execute(cancelCharge(chargeId, 500));
    if (n % 4 === 2) await world.execute(cancelCharge(chargeId));
    if (n % 5 === 1) await deliver(world, submitted(chargeId));
    if (n % 5 === 2) await deliver(world, confirmed(chargeId));
    if (n % 5 === 3) await deliver(world, failed(chargeId));
  }
  await catchUp(world);
  all = (await page({}, { limit: 100 })).items;
  expect(all).toHaveLength(24);
}, 60_000);
afterAll(() => world.close());

interface Wanted {
  walletId?: string | null;
  status?: "CHARGED" | "PARTIALLY_CANCELLED" | "CANCELLED" | undefined;
  filter?: ListFilter;
}

function page(wanted: Wanted, request: Parameters<typeof readPage>[0]) {
  const { walletId = null, ...rest } = wanted;
  const { app, orgId } = world;
  return app().listCharges({ orgId, walletId, ...rest, page: readPage(request, (key) => isId("chg", key)) });
}

/** Follows the cursor to the end. */
async function walk(wanted: Wanted, limit: number, oldestFirst: boolean): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | undefined; ;) {
    const position = cursor === undefined ? undefined : ({ $case: "cursor", value: cursor } as const);
    const { items, info } = await page(wanted, { limit, position, oldestFirst });
    seen.push(...items.map(({ chargeId }) => chargeId));
    if (!info.hasNext) return seen;
    cursor = info.nextCursor!;
  }
}

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const anyWanted = fc.record({
  walletId: optional(fc.integer({ min: 0, max: 1 })),
  status: optional(fc.constantFrom("CHARGED", "PARTIALLY_CANCELLED", "CANCELLED")),
  reference: optional(fc.constantFrom("order-1", "order-2", "order-9")),
  settlementStatus: optional(fc.constantFrom("PENDING", "SUBMITTED", "CONFIRMED", "FAILED")),
  from: optional(fc.nat(23)),
  before: optional(fc.nat(23)),
  minWon: optional(fc.constantFrom(1_000n, 1_200n)),
  maxWon: optional(fc.constantFrom(1_100n, 1_400n)),
  limit: fc.integer({ min: 1, max: 7 }),
  oldestFirst: fc.boolean(),
});

test("every set of filters lists exactly the matching charges, in both directions and any page size", async () => {
  await fc.assert(
    fc.asyncProperty(anyWanted, async ({ limit, oldestFirst, from, before, ...given }) => {
      const { status, reference, settlementStatus, minWon, maxWon } = given;
      const walletId = given.walletId === undefined ? null : wallets[given.walletId]!;
      const fromId = from === undefined ? undefined : all[from]!.chargeId;
      const beforeId = before === undefined ? undefined : all[before]!.chargeId;
      const filter = { reference, settlementStatus, fromId, beforeId, minWon, maxWon };
      const matching = all.filter(
        (one) =>
          (walletId === null || one.walletId === walletId) &&
          (status === undefined || enumName(ChargeStatus, one.status) === status) &&
          (reference === undefined || one.reference === reference) &&
          (settlementStatus === undefined ||
            enumName(SettlementStatus, one.settlement!.status) === settlementStatus) &&
          (fromId === undefined || one.chargeId >= fromId) &&
          (beforeId === undefined || one.chargeId < beforeId) &&
          (minWon === undefined || BigInt(one.amountWon) >= minWon) &&
          (maxWon === undefined || BigInt(one.amountWon) <= maxWon),
      );
      const newestFirst = matching.map(({ chargeId }) => chargeId);
      const expected = oldestFirst ? newestFirst.reverse() : newestFirst;
      expect(await walk({ walletId, status, filter }, limit, oldestFirst)).toEqual(expected);
      const { info } = await page({ walletId, status, filter }, { limit });
      expect(info.totalCount).toBe(expected.length);
    }),
    { numRuns: 60 },
  );
}, 120_000);

test("a search among many rows reads a limited number of them, and its cursor continues to the match", async () => {
  const orgId = newId("org");
  const admin = openTestDatabase(world.databases.payment.ownerUrl, "payment", { max: 1 });
  await admin.run(
    rawSql(`insert into charges (org_id, charge_id, wallet_id, amount_won, cancelled_won, balance_won, version, created_at)
      select '${orgId}', 'chg_' || lpad(n::text, 32, '0'), 'wal_1', case when n = 7 then 9000 else 1000 end, 0, 0, n, now()
      from generate_series(1, 25000) n`),
  );
  await admin.close();
  const wanted = { orgId, walletId: null, filter: { minWon: 2_000n } };
  const pages: [found: number, hasNext: boolean, total: number | undefined][] = [];
  for (let cursor: string | undefined; pages.length < 5;) {
    const position = cursor === undefined ? undefined : ({ $case: "cursor", value: cursor } as const);
    const request = readPage({ limit: 20, position }, (key) => isId("chg", key));
    const { items, info } = await world.app().listCharges({ ...wanted, page: request });
    pages.push([items.length, info.hasNext, info.totalCount]);
    cursor = info.nextCursor;
    if (!info.hasNext) break;
  }
  expect(MAX_OFFSET_ROWS).toBe(10_000);
  expect(pages).toEqual([
    [0, true, undefined],
    [0, true, undefined],
    [1, false, undefined],
  ]);
});
