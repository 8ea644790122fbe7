import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { HoldStatus } from "@wonrail/proto/ledger/v1/ledger";
import { AuthorizationKind, type AuthorizationIntent } from "@wonrail/proto/wallet/v1/wallet";
import { verifyTypedData } from "ethers";
import { stayWithinOneHour } from "./testing/moments";
import { nonceOf, secondsFromNow, signingBench, WALLET_LIMIT } from "./testing/signing";
import { CHAIN_ID, TOKEN } from "./testing/world";

const OUTSIDE = "0xde709f2102306220921060314715629080e2fb77";
const TYPES = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
};

const bench = signingBench();
const { makeWallet, sign, transferOf } = bench;

test("a leg of the ledger's entry is signed with the payer's key, as the token accepts it", async () => {
  const intent = transferOf(1_000n);
  const [signature] = await sign(intent);
  const message = {
    from: bench.payer.walletAddress,
    to: bench.payee.walletAddress,
    value: 1_000_000_000n,
    validAfter: 0n,
    validBefore: intent.validBefore,
    nonce: intent.nonce,
  };
  const domain = { name: "Wonrail Won", version: "1", chainId: CHAIN_ID, verifyingContract: TOKEN };
  expect(verifyTypedData(domain, TYPES, message, signature!)).toBe(bench.payer.walletAddress);
});

test.each<[string, () => Partial<AuthorizationIntent>, string]>([
  ["another chain", () => ({ chainId: 1n }), "wrong_chain"],
  ["another token", () => ({ tokenAddress: OUTSIDE }), "wrong_token"],
  ["an operation that the ledger does not know", () => ({ ledgerRef: newId("trf") }), "unknown_operation"],
  ["one KRW more than was posted", () => ({ amountWon: "1001" }), "not_in_operation"],
  ["another payee", () => ({ toAddress: OUTSIDE }), "not_in_operation"],
  [
    "a burn of what was paid to somebody",
    () => ({ kind: AuthorizationKind.BURN, toAddress: "" }),
    "not_in_operation",
  ],
  ["the payee's wallet as payer", () => ({ fromWalletId: bench.payee.walletId }), "not_in_operation"],
  ["a wallet of nobody", () => ({ fromWalletId: newId("wal") }), "unknown_wallet"],
  ["an end that has passed", () => ({ validBefore: secondsFromNow(-1) }), "expired"],
  ["an end beyond the horizon", () => ({ validBefore: secondsFromNow(3_700) }), "horizon"],
])("refuses %s and stores the refusal", async (_, change, reason) => {
  const intent = { ...transferOf(1_000n), ...change() };
  const before = await refusalCount(reason);
  expect(await sign(intent)).toEqual([reason]);
  const rows = await bench.world.database.db.query(
    sql`select org_id, from_wallet_id, reason from signing_refusals where ledger_ref = ${intent.ledgerRef}`,
  );
  expect(rows).toEqual([{ org_id: bench.orgId, from_wallet_id: intent.fromWalletId, reason }]);
  expect(await refusalCount(reason)).toBe(before + 1);
});

test.each([-1, 1])("a clock that is %d day off decides alike", async (days) => {
  const [good, ended, far] = [600, -60, 3_700].map((seconds) => ({
    ...transferOf(100n),
    validBefore: secondsFromNow(seconds),
  }));
  const now = Date.now;
  const clock = jest.spyOn(Date, "now").mockImplementation(() => now() + days * 86_400_000);
  try {
    expect(await sign(good!)).toEqual([expect.stringMatching(/^0x[0-9a-f]{130}$/)]);
    expect(await sign(ended!)).toEqual(["expired"]);
    expect(await sign(far!)).toEqual(["horizon"]);
  } finally {
    clock.mockRestore();
  }
});

test("a repeated refusal is counted each time and stored once an hour for each reason", async () => {
  const intent = { ...transferOf(1_000n), amountWon: "1001" };
  const before = await refusalCount("not_in_operation");
  for (let asked = 0; asked < 3; asked += 1) expect(await sign(intent)).toEqual(["not_in_operation"]);
  expect(await sign({ ...intent, chainId: 1n })).toEqual(["wrong_chain"]);
  expect(await refusalCount("not_in_operation")).toBe(before + 3);
  const written = async () => {
    const rows = await bench.world.database.db.query<{ reason: string }>(
      sql`select reason from signing_refusals where ledger_ref = ${intent.ledgerRef} order by id`,
    );
    return rows.map(({ reason }) => reason);
  };
  expect(await written()).toEqual(["not_in_operation", "wrong_chain"]);
  const hourAgo = sql`update signing_refusals set refused_at = refused_at - interval '1 hour' where ledger_ref = ${intent.ledgerRef}`;
  await bench.world.database.db.run(hourAgo);
  await sign(intent);
  expect(await written()).toEqual(["not_in_operation", "wrong_chain", "not_in_operation"]);
});

test("a wallet and an operation belong to their own organisation only", async () => {
  const intent = transferOf(1_000n);
  expect(await sign({ ...intent, orgId: newId("org") })).toEqual(["unknown_wallet"]);
  const stranger = newId("org");
  await makeWallet(stranger, "payer");
  expect(await sign({ ...intent, orgId: stranger })).toEqual(["unknown_wallet"]);
  // Also not when its owner asks for it at the same time.
  expect(await sign({ ...intent, orgId: stranger }, intent)).toEqual([
    "unknown_wallet",
    expect.stringMatching(/^0x/),
  ]);
});

test("a hold is signed to its own address while it is open, and not afterwards", async () => {
  const hold = { orgId: bench.orgId, from: bench.payer.walletId, toAddress: OUTSIDE, amountWon: 700n };
  const open = newId("hld");
  bench.world.ledger.addHold({ ...hold, ledgerRef: open });
  const wish = { toAddress: OUTSIDE, amountWon: "700" };
  expect(await sign({ ...transferOf(1n), ...wish, ledgerRef: open })).toEqual([
    expect.stringMatching(/^0x[0-9a-f]{130}$/),
  ]);
  const other = newId("hld");
  bench.world.ledger.addHold({ ...hold, ledgerRef: other });
  const burn = { kind: AuthorizationKind.BURN, toAddress: "" };
  for (const change of [burn, { toAddress: bench.payee.walletAddress }])
    expect(await sign({ ...transferOf(1n), ...wish, ledgerRef: other, ...change })).toEqual([
      "not_in_operation",
    ]);
  for (const status of [HoldStatus.VOIDED, HoldStatus.POSTED]) {
    const over = newId("hld");
    bench.world.ledger.addHold({ ...hold, ledgerRef: over, status });
    expect(await sign({ ...transferOf(1n), ...wish, ledgerRef: over })).toEqual(["unknown_operation"]);
  }
});

test("a burn is signed up to the amount that returns to the organisation", async () => {
  const ledgerRef = newId("rfd");
  bench.world.ledger.addRefund({
    orgId: bench.orgId,
    ledgerRef,
    from: bench.payer.walletId,
    amountWon: 300n,
  });
  const burn = { ...transferOf(1n), ledgerRef, kind: AuthorizationKind.BURN, toAddress: "" };
  expect(await sign({ ...burn, amountWon: "301" })).toEqual(["not_in_operation"]);
  expect(await sign({ ...burn, amountWon: "300" })).toEqual([expect.stringMatching(/^0x/)]);
});

test.each([
  ["cancelled", IntentKind.CANCEL_PAYMENT],
  ["refunded", IntentKind.REFUND_PAYMENT],
])("a %s payment settles the difference of a wallet that pays and receives", async (_what, kind) => {
  const shop = await makeWallet(bench.orgId, `shop ${kind}`);
  const incentive = await makeWallet(bench.orgId, `kim ${kind}`);
  const ledgerRef = newId("pay");
  // The accrual is clawed back.
  bench.world.ledger.addEntry({
    orgId: bench.orgId,
    ledgerRef,
    kind,
    lines: [
      [shop.walletId, -1_000n],
      [incentive.walletId, 50n],
      [bench.payer.walletId, 950n],
      [incentive.walletId, -30n],
      ["acc_incentive", 30n],
    ],
  });
  const leg = { ...transferOf(1n), ledgerRef, fromWalletId: shop.walletId };
  const burn = { ...leg, kind: AuthorizationKind.BURN, toAddress: "", amountWon: "30" };
  expect(await sign({ ...burn, fromWalletId: incentive.walletId })).toEqual(["not_in_operation"]);
  expect(await sign({ ...leg, toAddress: incentive.walletAddress, amountWon: "21" })).toEqual([
    "not_in_operation",
  ]);
  const legs = [
    burn,
    { ...leg, toAddress: incentive.walletAddress, amountWon: "20" },
    { ...leg, toAddress: bench.payer.walletAddress, amountWon: "950" },
  ];
  expect(await sign(...legs)).toEqual(Array(3).fill(expect.stringMatching(/^0x/)));
});

test.each([IntentKind.POST_HOLD, IntentKind.CREDIT_EXTERNAL])(
  "nothing is signed for an entry of kind %d, which is on the chain already",
  async (kind) => {
    const ledgerRef = newId("trf");
    const lines: [string, bigint][] = [
      [bench.payer.walletId, -1_000n],
      ["acc_external", 1_000n],
    ];
    bench.world.ledger.addEntry({ orgId: bench.orgId, ledgerRef, kind, lines });
    const burn = { ...transferOf(1n), ledgerRef, kind: AuthorizationKind.BURN, toAddress: "" };
    expect(await sign({ ...burn, amountWon: "1000" })).toEqual(["unknown_operation"]);
  },
);

test("GetLatestAuthorization returns the latest end of the operation's signed legs", async () => {
  const intent = { ...transferOf(1_000n), validBefore: secondsFromNow(600) };
  const { orgId, ledgerRef } = intent;
  const latest = (of = orgId) => bench.world.client.getLatestAuthorization({ orgId: of, ledgerRef });
  expect(await latest()).toEqual({ latestValidBefore: undefined });
  await sign(intent);
  expect(await latest()).toEqual({ latestValidBefore: intent.validBefore });
  await sign({ ...intent, validBefore: intent.validBefore + 900n });
  await sign({ ...intent, validBefore: intent.validBefore + 60n });
  expect(await latest()).toEqual({ latestValidBefore: intent.validBefore + 900n });
  await sign({ ...intent, nonce: nonceOf(2), validBefore: intent.validBefore + 1_200n });
  expect(await latest()).toEqual({ latestValidBefore: intent.validBefore + 900n });
  expect(await latest(newId("org"))).toEqual({ latestValidBefore: undefined });
});

test("signed amounts stay within the hourly limits, and a repeated authorization costs nothing", async () => {
  await stayWithinOneHour(bench.world.database.db, 10_000);
  const most = transferOf(WALLET_LIMIT);
  expect(await sign(most)).toEqual([expect.stringMatching(/^0x/)]);
  expect(await sign(most)).toEqual([expect.stringMatching(/^0x/)]);
  expect(await sign(transferOf(1n))).toEqual(["over_wallet_limit"]);
  // The job deletes other hours only.
  await bench.world.app.deleteOldVelocity(new AbortController().signal);
  expect(await sign(transferOf(1n))).toEqual(["over_wallet_limit"]);
  const other = await makeWallet(bench.orgId, "other");
  expect(await sign(transferOf(5_001n, other.walletId))).toEqual(["over_organisation_limit"]);
  expect(await sign(transferOf(5_000n, other.walletId))).toEqual([expect.stringMatching(/^0x/)]);
});

test("a leg above a limit has its own reason, logs its amount and spends nothing", async () => {
  await stayWithinOneHour(bench.world.database.db, 10_000);
  const before = await refusalCount("leg_over_limit");
  const intent = transferOf(WALLET_LIMIT + 1n);
  expect(await sign(intent, transferOf(WALLET_LIMIT))).toEqual([
    "leg_over_limit",
    expect.stringMatching(/^0x/),
  ]);
  expect(await refusalCount("leg_over_limit")).toBe(before + 1);
  const { ledgerRef } = intent;
  const logLines = bench.world
    .logged()
    .split("\n")
    .filter((line) => line.includes("refused to sign") && line.includes(ledgerRef))
    .map((line) => JSON.parse(line) as object);
  expect(logLines).toEqual([
    expect.objectContaining({ reason: "leg_over_limit", ledgerRef, orgId: bench.orgId, amountWon: "10001" }),
  ]);
});

test("signed amounts stay within the hourly limit of all organisations together", async () => {
  await stayWithinOneHour(bench.world.database.db, 10_000);
  await bench.world.database.db.run(sql`
    insert into velocity (scope, hour, amount_won) values ('all', date_trunc('hour', now()), 999950)
    on conflict (scope, hour) do update set amount_won = excluded.amount_won`);
  expect(await sign(transferOf(51n))).toEqual(["over_global_limit"]);
  expect(await sign(transferOf(50n))).toEqual([expect.stringMatching(/^0x/)]);
  expect(await sign(transferOf(1n))).toEqual(["over_global_limit"]);
  await bench.world.database.db.run(sql`delete from velocity where scope = 'all'`);
});

test.each<[string, Partial<AuthorizationIntent>]>([
  ["an amount of nothing", { amountWon: "0" }],
  ["a nonce of 31 bytes", { nonce: Buffer.alloc(31) }],
  ["a burn to somebody", { kind: AuthorizationKind.BURN }],
  ["a payee that is no address", { toAddress: "0x12" }],
])("%s refuses the whole call", async (_, change) => {
  const good = transferOf(10n);
  await expect(sign(good, { ...good, ...change })).rejects.toMatchObject({
    code: "REQ_001",
    details: { fields: [{ path: expect.stringMatching(/^intents\.1\./) }] },
  });
});

test("a call with too many legs is refused before any leg is checked", async () => {
  const intent = transferOf(10n);
  await expect(sign(...Array<AuthorizationIntent>(501).fill(intent))).rejects.toMatchObject({
    code: "REQ_001",
  });
});

test("a call with many legs gets one outcome for each leg, in order", async () => {
  const good = Array.from({ length: 20 }, () => transferOf(10n));
  const bad = { ...transferOf(10n), chainId: 5n };
  const answers = await sign(...good.slice(0, 10), bad, ...good.slice(10));
  expect(answers.map((answer) => answer.startsWith("0x"))).toEqual(
    Array.from({ length: 21 }, (_, index) => index !== 10),
  );
  expect(answers[10]).toBe("wrong_chain");
});

async function refusalCount(reason: string): Promise<number> {
  const metric = bench.world.registry.getSingleMetric("signer_refusals_total")!;
  const { values } = await metric.get();
  return values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
}
