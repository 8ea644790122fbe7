import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rawSql, sql } from "@wonrail/kit/db";
import { migrate } from "@wonrail/kit/migrate";
import { createTestDatabase, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { CancelledPayment, ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { findPayment } from "./payments";

const MIGRATIONS = join(__dirname, "../../migrations");
const orgId = "org_1";

let older: string;
let database: TestDatabase;

beforeEach(async () => {
  older = mkdtempSync(join(tmpdir(), "wonrail-payment-"));
  for (const name of readdirSync(MIGRATIONS).filter((name) => name < "0008"))
    copyFileSync(join(MIGRATIONS, name), join(older, name));
  database = await createTestDatabase({ schema: "payment", migrations: older });
});
afterEach(async () => {
  await database.drop();
  rmSync(older, { recursive: true, force: true });
});

const NORMAL_WON = 9_000_000_000_000;
const toDate = () => migrate({ url: database.ownerUrl, schema: "payment", dir: MIGRATIONS, log: testLog() });

/** As the release before writes it down. */
async function cancelled(name: string, accruedWon: number): Promise<void> {
  await database.db.run(sql`
    insert into payments (org_id, payment_id, status, payer_wallet_id, receiver_wallet_id, amount_won, government_won, incentive_won,
      normal_won, accrued_won, created_at, cancel_id, updated_at)
    values (${orgId}, ${`pay_${name}`}, 'CANCELLED', 'wal_1', 'wal_2', ${NORMAL_WON + 50}, 0, 50, ${NORMAL_WON}, ${accruedWon},
      '2026-01-14T00:30:00Z', ${`pcl_${name}`}, '2026-01-14T00:40:00Z')`);
}

async function answered(name: string, keptWon: number, memo: string | null): Promise<void> {
  const value = CancelledPayment.fromPartial({
    payment: { paymentId: `pay_${name}`, memo: "점심 2\\x012", updatedAt: new Date() },
    cancelId: `pcl_${name}`,
    ...{ restoredIncentiveWon: "50", restoredNormalWon: String(NORMAL_WON - keptWon) },
    ...{ incentiveClawedBackWon: "2", keptFromNormalWon: String(keptWon) },
  });
  const answer = ExecuteResponse.encode({ replayed: false, outcome: { $case: "cancelledPayment", value } });
  await database.db.run(sql`
    insert into operations (org_id, operation_id, kind, body_hash, input, state, answer, request_id, traceparent)
    values (${orgId}, ${`pcl_${name}`}, 'CANCEL_PAYMENT', '', ${JSON.stringify({ memo })}::jsonb, 'DONE', ${Buffer.from(answer.finish())}, '', '')`);
}

const found = async (name: string) => (await findPayment(database.db, orgId, `pay_${name}`))!.cancel;

test.each([0, 2, 22, 50, 222_222, 1_234_567_890, 8_999_999_999_999])(
  "of a payment that was cancelled before, its answer is asked: %p was kept",
  async (keptWon) => {
    await cancelled("1", keptWon + 2);
    await answered("1", keptWon, "돌려줌");
    await toDate();
    expect(await found("1")).toEqual({
      ...{ cancelId: "pcl_1", memo: "돌려줌", createdAt: new Date("2026-01-14T00:40:00Z") },
      amounts: {
        ...{ restoredIncentiveWon: 50n, restoredNormalWon: BigInt(NORMAL_WON - keptWon) },
        ...{ clawedBackWon: 2n, keptWon: BigInt(keptWon) },
      },
    });
  },
);

test("when the answer is forgotten, all went back where nothing was accrued, and else it is not known", async () => {
  await cancelled("1", 0);
  await cancelled("2", 7);
  await toDate();
  const whole = { restoredIncentiveWon: 50n, restoredNormalWon: BigInt(NORMAL_WON) };
  expect(await found("1")).toMatchObject({
    memo: null,
    amounts: { ...whole, clawedBackWon: 0n, keptWon: 0n },
  });
  expect(await found("2")).toMatchObject({ cancelId: "pcl_2", memo: null, amounts: null });
});

test("the release before goes on with the new schema, and no amounts are taken that do not add up", async () => {
  await toDate();
  await cancelled("1", 7);
  expect(await found("1")).toMatchObject({ cancelId: "pcl_1", amounts: null });
  const wrong = rawSql(
    `update payments set restored_incentive_won = 50, restored_normal_won = normal_won, clawed_back_won = 7, kept_won = 1`,
  );
  await expect(database.db.run(wrong)).rejects.toThrow("payments_taken_back_whole");
});
