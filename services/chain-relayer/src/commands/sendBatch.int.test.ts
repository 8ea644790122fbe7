import { holdLease } from "../store/transactions";
import { planOperations } from "./planOperations";
import { sendBatches } from "./sendBatch";
import { createChainDouble, depsOn, OPERATOR } from "./testing/chainDouble";
import { freshDatabase } from "./testing/database";
import { carry, operationOf, statesOf, takeIn } from "./testing/operations";

const database = freshDatabase();

test("a writer that wakes up does not put off what another has sent meanwhile", async () => {
  const chain = createChainDouble();
  const [sent, planned] = [operationOf(), operationOf()];
  await takeIn(database.db, [sent]);
  const lease = (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  const deps = depsOn(database.db, chain);
  chain.baseFeeWei = deps.feeCapWei + 1n;
  const slow = {
    ...deps.provider,
    priorityFeeWei: async () => {
      await carry(database.db, OPERATOR, { nonce: 0n });
      await takeIn(database.db, [planned]);
      await planOperations(database.db, lease);
      return 1n;
    },
  };
  const most = { most: 1, signal: new AbortController().signal };
  expect(await sendBatches({ ...deps, provider: slow }, lease, most)).toBe(0);
  expect(await statesOf(database.db, [sent, planned])).toEqual(["IN_FLIGHT", "PLANNED"]);
  expect(await sendBatches(deps, lease, most)).toBe(0);
  expect(await statesOf(database.db, [sent, planned])).toEqual(["IN_FLIGHT", "PLANNED fee_above_cap"]);
});
