import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { holdLease } from "../store/transactions";
import { type ChainDouble, createChainDouble, depsOn, OPERATOR } from "./testing/chainDouble";
import { carry, operationOf, statesOf, takeIn, transactionStates } from "./testing/operations";
import { watchTransactions } from "./watchTransactions";

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase({
    schema: "chain_relayer",
    migrations: join(__dirname, "../../migrations"),
  });
});
afterEach(() => database.drop());

test("the state of a final block is asked for only when a nonce that is used may have gone elsewhere", async () => {
  const chain = createChainDouble();
  const operation = operationOf();
  await takeIn(database.db, [operation]);
  await carry(database.db, OPERATOR, { nonce: 5n });
  chain.nonces.set(OPERATOR.address, 5n);
  await watch(chain);
  expect(chain.asked).toEqual([`${OPERATOR.address} latest`]);
  expect(chain.sent).toHaveLength(1);

  chain.nonces.set(OPERATOR.address, 6n);
  await watch(chain);
  expect(chain.asked.at(-1)).toBe(`${OPERATOR.address} 1000`);
  expect(await transactionStates(database.db)).toEqual(["LOST"]);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED nonce_taken"]);
});

async function watch(chain: ChainDouble): Promise<void> {
  const lease = await holdLease(database.db, OPERATOR.address, "this process", 60_000);
  await watchTransactions(depsOn(database.db, chain), lease!);
}
