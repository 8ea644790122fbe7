import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { planOperations } from "../commands/planOperations";
import { OPERATOR } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { operationOf, statesOf, takeIn } from "../../testing/operations";
import { holdLease } from "../../sender/store/transactions";

const database = freshDatabase();

test("a hundred lanes in which what is settled already waits for what is missing do not keep others from their turn", async () => {
  const early = Array.from({ length: 100 }, () => {
    const walletId = newId("wal");
    const places = [{ accountId: walletId, atSequence: 2n, movesTo: 3n }];
    return operationOf(walletId, { orgId: newId("org"), places });
  });
  await takeIn(database.db, early);
  await database.db.run(sql`update operations set state = 'CONFIRMED', tx_hash = '0x', block_hash = '0x'`);
  const free = operationOf();
  await takeIn(database.db, [free]);
  const lease = (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!;
  for (let rounds = 0; rounds < 3; rounds += 1) await planOperations(database.db, lease);
  expect(await statesOf(database.db, [free, early[0]!])).toEqual(["PLANNED", "CONFIRMED"]);
});
