import { freshDatabase } from "../commands/testing/database";
import { OPERATOR } from "../commands/testing/chainDouble";
import { operationOf, takeIn } from "../commands/testing/operations";
import { planOperations } from "../commands/planOperations";
import { countPlannedOperations, listPlannedOperations } from "./operations";
import { holdLease } from "./transactions";

const database = freshDatabase();

test("holds whose time is over take no room from what may go, however long their proof takes", async () => {
  const over = operationOf(undefined, { kind: "INTENT_KIND_PLACE_HOLD", expiresAt: new Date(0) });
  await takeIn(database.db, [over, operationOf()]);
  await planOperations(
    database.db,
    (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!,
  );
  expect(await listPlannedOperations(database.db, 10)).toHaveLength(1);
  expect(await countPlannedOperations(database.db)).toBe(1);
});
