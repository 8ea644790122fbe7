import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/ids";
import { saveDrifts } from "../store/drifts";
import { holdLease } from "../store/transactions";
import { saveWalletAddresses } from "../store/walletAddresses";
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

test("a difference that is found while a batch is being signed stops what is not in a transaction yet", async () => {
  const chain = createChainDouble();
  const [walletId, toAddress] = [newId("wal"), `0x${"5".repeat(40)}`];
  const payment = operationOf(walletId);
  const [step] = payment.steps;
  await takeIn(database.db, [{ ...payment, steps: [{ ...step!, toWalletId: null, toAddress }] }]);
  const { orgId } = payment;
  await saveWalletAddresses(database.db, [{ walletId, orgId, address: toAddress }]);
  const lease = (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  const found = {
    orgId,
    walletId,
    kind: "CHAIN",
    subject: "",
    expected: 1n,
    actual: 0n,
    blockNumber: 1n,
  } as const;
  const wallet = {
    signAuthorizations: async () => {
      await saveDrifts(database.db, [found]);
      return { signatures: [{ outcome: { $case: "signature", value: Buffer.alloc(65, 27) } }] };
    },
  } as never;
  const sending = sendBatches({ ...depsOn(database.db, chain), wallet }, lease, {
    most: 1,
    signal: new AbortController().signal,
  });
  await expect(sending).rejects.toThrow("its wallet has come into doubt");
  expect(chain.sent).toEqual([]);
  expect(await statesOf(database.db, [payment])).toEqual(["PLANNED"]);
});

test("while gas is dear a transaction stays below the price at which usual nodes refuse it", async () => {
  const chain = createChainDouble();
  chain.baseFeeWei = 170n * GWEI;
  const toWalletId = newId("wal");
  const operations = Array.from({ length: 100 }, () => {
    const made = operationOf();
    const steps = made.steps.map(
      (step) => ({ ...step, kind: "MINT", fromWalletId: null, toWalletId }) as const,
    );
    return { ...made, steps };
  });
  await takeIn(database.db, operations);
  const address = `0x${"5".repeat(40)}`;
  await saveWalletAddresses(database.db, [{ walletId: toWalletId, orgId: operations[0]!.orgId, address }]);
  const lease = (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  const deps = { ...depsOn(database.db, chain), feeCapWei: 500n * GWEI };
  await sendBatches(deps, lease, { most: 1, signal: new AbortController().signal });
  const { cost_wei: costWei, carried } = await database.db.one<{ cost_wei: bigint; carried: bigint }>(sql`
    select gas_limit * max_fee_wei as cost_wei, (select count(*) from operations where state = 'IN_FLIGHT') as carried
    from transactions join transaction_versions using (transaction_id)`);
  expect(costWei).toBeLessThanOrEqual(10n ** 18n);
  expect(carried).toBe(25n);
});

const GWEI = 1_000_000_000n;
