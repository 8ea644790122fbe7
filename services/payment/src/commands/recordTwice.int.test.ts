import { join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { PostResponse } from "@wonrail/proto/ledger/v1/ledger";
import { type ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { claimKeys } from "./claimKeys";
import { type Facts } from "./flows/flow";
import { type Decided, recordOutcomes } from "./recordOutcomes";

let database: TestDatabase;
const orgId = newId("org");

beforeAll(async () => {
  database = await createTestDatabase({ schema: "payment", migrations: join(__dirname, "../../migrations") });
});
afterAll(() => database.drop());

test("what several processes find out of the same operations is written down once, and all give the same answers", async () => {
  const posted = await decidedOf(false);
  const refused = await decidedOf(true);
  const fresh = await decidedOf(false);
  const first = await record([posted, refused]);
  const together = [[posted, fresh, refused], [fresh], [refused, fresh, posted], [fresh, fresh]];
  const [all, one, turned, twice] = await Promise.all(together.map(record));
  expect(all).toEqual([first[0], one![0], first[1]]);
  expect(turned).toEqual([first[1], one![0], first[0]]);
  expect(twice).toEqual([one![0], one![0]]);
  expect(await database.db.query(sql`select state from operations order by operation_id`)).toEqual(
    [posted, refused, fresh].map(({ entry }) => ({ state: "refused" in entry ? "REFUSED" : "DONE" })),
  );
  const charged = [posted, fresh].map(({ operation }) => operation.operationId);
  expect(await idsIn("charges", "charge_id")).toEqual(charged);
  expect(await idsIn("outbox", "aggregate_id")).toEqual(charged);
});

test("what there is no way to write down is a fault of its own: nobody hears of nothing as an answer", async () => {
  const [known, { operation, entry }] = [await decidedOf(false), await decidedOf(false)];
  const unknown = {
    operation: { ...operation, input: { ...operation.input, kind: "GIFT" } },
    entry,
  } as unknown;
  const deps = { db: database.db, facts: { network: "N" } as Facts };
  expect(await recordOutcomes(deps, [known, unknown as Decided])).toEqual([
    { ok: true, value: expect.objectContaining({ replayed: false }) },
    { ok: false, error: expect.objectContaining({ message: expect.stringContaining("assertion failed") }) },
  ]);
});

/** A charge that was claimed, and what the ledger said of it. */
async function decidedOf(refused: boolean): Promise<Decided> {
  const walletId = newId("wal");
  const [claimed] = await claimKeys(database.db, [
    {
      ...{ orgId, operationId: newId("chg"), idempotencyKey: null, bodyHash: Buffer.alloc(32) },
      input: { kind: "CHARGE", walletId, amountWon: "1000", memo: null },
      ...{ requestId: newId("req"), traceparent: "" },
    },
  ]);
  if (!claimed?.ok) throw new Error("the key was not claimed");
  const operation = claimed.value;
  if (refused) return { operation, entry: { refused: { code: "WAL_004" } } };
  const entry = PostResponse.fromPartial({
    ...{ requestId: operation.operationId, postedAt: new Date() },
    balances: [{ accountId: walletId, balanceWon: "1000", heldWon: "0" }],
  });
  return { operation, entry };
}

async function record(decided: Decided[]): Promise<ExecuteResponse[]> {
  const outcomes = await recordOutcomes({ db: database.db, facts: { network: "N" } as Facts }, decided);
  return outcomes.map((outcome) => {
    if (!outcome.ok) throw outcome.error;
    return outcome.value;
  });
}

async function idsIn(table: string, column: string): Promise<string[]> {
  const rows = await database.db.query<{ id: string }>(
    sql`select ${sql.identifier(column)} as id from ${sql.identifier(table)} order by 1`,
  );
  return rows.map(({ id }) => id);
}
