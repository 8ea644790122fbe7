import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { wonToTokenUnits } from "@wonrail/kit/contract/money";
import { addressOf, tokenAbi } from "../../evm/contracts";
import { type ChainLog } from "../../evm/logs";
import { type Step } from "../domain/steps";
import { findSettlementByOthers } from "../queries/settlementsByOthers";
import { listDrifts } from "../../reconciliation/store/drifts";
import { findByOperationIds } from "../store/operations";
import { scanFinalized } from "../../indexer/commands/scanFinalized";
import { blockHashOf, createChainDouble, cursorAt, depsOn, OPERATOR, TOKEN } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { executionOf, repetitionOf } from "../../testing/executions";
import { signWaitingOperations, operationOf, statesOf, ingestOperations } from "../../testing/operations";

// A restored ledger gives new entries the numbers of forgotten ones. Names of operations and
// authorizations follow from these numbers, so the chain may have executed another operation
// under such a name.

const database = freshDatabase();
const won = (amount: bigint) => amount as Step["amountWon"];

const forgotten = operationOf();
const [asked] = forgotten.steps as [Step];
const MINT = { kind: "MINT", fromWalletId: null, nonce: "" } as const;

test.each<[string, Step[]]>([
  ["pays somebody else", [{ ...asked, toWalletId: newId("wal") }]],
  ["pays an outside address", [{ ...asked, toWalletId: null, toAddress: `0x${"c".repeat(40)}` }]],
  ["is paid by somebody else", [{ ...asked, fromWalletId: newId("wal") }]],
  ["pays more", [{ ...asked, amountWon: won(2n) }]],
  ["is minted", [{ ...asked, ...MINT }]],
  ["pays another one besides", [asked, { ...asked, toWalletId: newId("wal"), nonce: "2".repeat(64) }]],
])("an earlier execution under its name does not settle an operation that %s", async (_, steps) => {
  const [chain, operation] = [createChainDouble(), { ...forgotten, steps }];
  await ingestOperations(database.db, [operation]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  // Its wallets have addresses, too.
  await executionOf(database.db, operation, 950n);
  chain.logs = await executionOf(database.db, forgotten, 950n);
  await cursorAt(database.db, 945n);
  const deps = depsOn(database.db, chain);
  await scanFinalized(deps);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED name_taken"]);
  const drifts = await listDrifts(database.db, { all: true, limit: 10 });
  expect(drifts.map(({ kind, subject }) => [kind, subject])).toEqual([
    ["UNKNOWN_OPERATION", operation.operationId],
  ]);

  // A late second attempt: the contract reports an earlier execution.
  await database.db.run(sql`update operations set state = 'IN_FLIGHT'`);
  chain.final = 1_960n;
  chain.logs.push(repetitionOf(operation, 1_950n));
  while (await scanFinalized(deps));
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED name_taken"]);
});

test("legs that others had executed count for the execution that left them out", async () => {
  const chain = createChainDouble();
  const second = { ...asked, toWalletId: newId("wal"), nonce: "2".repeat(64) };
  const operation = { ...forgotten, steps: [asked, second] };
  await ingestOperations(database.db, [operation]);
  const [first, rest, executed] = await executionOf(database.db, operation, 950n);
  chain.logs = [
    ...usedFor(asked, { ...first!, blockNumber: 949n, blockHash: blockHashOf(949n), txHash: "0x7" }),
    ...[rest!, executed!],
  ];
  await cursorAt(database.db, 945n);
  await scanFinalized(depsOn(database.db, chain));
  expect(await statesOf(database.db, [operation])).toEqual(["CONFIRMED"]);
});

test.each([
  ["what it asks for", (moved: ChainLog) => moved, true],
  ["less", (moved: ChainLog) => ({ ...moved, data: `0x${"0".repeat(63)}1` }), false],
  [
    "it to somebody else",
    (moved: ChainLog) => ({ ...moved, topics: [moved.topics[0]!, moved.topics[1]!, moved.topics[1]!] }),
    false,
  ],
])(
  "an authorization with its leg's name settles it only as ordered, here after moving %s",
  async (_, change, settles) => {
    const chain = createChainDouble();
    await ingestOperations(database.db, [forgotten]);
    const [moved] = await executionOf(database.db, forgotten, 950n);
    expect(BigInt(moved!.data)).toBe(wonToTokenUnits(asked.amountWon));
    chain.logs = usedFor(asked, change(moved!));
    await cursorAt(database.db, 945n);
    await scanFinalized(depsOn(database.db, chain));
    const [operation] = (await findByOperationIds(database.db, [forgotten.operationId])).values();
    expect((await findSettlementByOthers(database.db, operation!)) !== null).toBe(settles);
  },
);

/** The token's logs of an authorization and its movement. */
function usedFor({ nonce }: Step, moved: ChainLog): ChainLog[] {
  const authorizer = addressOf(moved.topics[1]!);
  const used = tokenAbi.encodeEventLog("AuthorizationUsed", [authorizer, `0x${nonce}`]);
  return [
    { ...moved, address: TOKEN, ...used },
    { ...moved, logIndex: moved.logIndex + 1 },
  ];
}
