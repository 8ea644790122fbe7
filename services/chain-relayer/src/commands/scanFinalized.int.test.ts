import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { findCursor, saveCursor } from "../store/scanCursor";
import { scanFinalized } from "./scanFinalized";
import { blockHashOf, createChainDouble, depsOn, OPERATOR } from "./testing/chainDouble";
import { carry, operationOf, statesOf, takeIn, transactionStates } from "./testing/operations";

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase({
    schema: "chain_relayer",
    migrations: join(__dirname, "../../migrations"),
  });
});
afterEach(() => database.drop());

test("a scan that lags behind goes on although the nodes have forgotten its blocks' states", async () => {
  const chain = createChainDouble();
  const operation = operationOf();
  await takeIn(database.db, [operation]);
  const txHash = await carry(database.db, OPERATOR, { nonce: 0n });
  chain.nonces.set(OPERATOR.address, 1n);
  chain.receipts.set(txHash, {
    ...{ blockNumber: 600n, blockHash: blockHashOf(600n) },
    ...{ gasUsed: 50_000n, succeeded: false },
  });

  await cursorAt(500n);
  const deps = depsOn(database.db, chain);
  await scanFinalized(deps);
  expect(await findCursor(database.db)).toMatchObject({ blockNumber: 508n });
  // Mined, and not in the blocks that were taken in.
  expect(await transactionStates(database.db)).toEqual(["SIGNED"]);
  while (await scanFinalized(deps));
  expect(await findCursor(database.db)).toMatchObject({ blockNumber: 1_000n });
  expect(await transactionStates(database.db)).toEqual(["FINAL"]);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED batch_reverted"]);
});

async function cursorAt(blockNumber: bigint): Promise<void> {
  await saveCursor(database.db, { blockNumber, blockHash: blockHashOf(blockNumber), blockTime: 1n });
}
