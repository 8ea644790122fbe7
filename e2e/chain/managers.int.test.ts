// The payment manager is replaced: mints of the previous one are neither deposits nor repeated.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runAdmin } from "@wonrail/chain-relayer/admin";
import { tokenAbi } from "@wonrail/chain-relayer/evm/contracts";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { approveNewest } from "@wonrail/kit/testing/approveNewest";
import { REPOSITORY } from "@wonrail/local/config";
import { AbiCoder, id } from "ethers";
import { NO_LIMIT, openBook, readOperations } from "./support/book";
import { openWorld, type World } from "./support/world";

const patience = { timeoutMs: 60_000 };
const REASON = ["--reason", "test"];

let world: World;
let book: ReturnType<typeof openBook>;
let next: string;

beforeAll(async () => {
  world = await openWorld();
  world.node.run(150);
  await world.node.rpc("anvil_impersonateAccount", [world.admin]);
  await world.node.rpc("anvil_setBalance", [world.admin, "0x56bc75e2d63100000"]);
  book = openBook(world);
  next = await deployNext();
}, 240_000);
afterAll(() => world.close(), 120_000);

test("operations continue once each through another payment manager, and a rescan reproduces earlier blocks", async () => {
  const [relayer] = world.relayers;
  const [payer, payee] = [await book.openWallet("payer"), await book.openWallet("payee")];
  const charge = (amountWon: string) =>
    book.post("chg", { $case: "charge", value: { walletId: payer.walletId, amountWon } });
  const before = await charge("3000");
  await until(before, "CONFIRMED");

  // The new payment manager is not adopted yet.
  await expect(
    relayer!.stop().then(() => relayer!.start({ PAYMENT_MANAGER_ADDRESS: next })),
  ).rejects.toThrow();
  expect(readFileSync(relayer!.logFile, "utf8")).toContain("which this database does not know");
  await relayer!.start();
  expect(await admin("manager", "adopt", next, ...REASON)).toEqual([
    1,
    expect.stringContaining("could still mint"),
  ]);

  await asAdmin(allow(world.contracts.paymentManagerAddress, 0n));
  // Sent to the previous payment manager, which can mint nothing more.
  const between = await charge("500");
  await until(between, "PLANNED", "MintAllowanceExceeded");
  await eventually(
    async () => expect(await admin("manager", "adopt", next, ...REASON)).toEqual([0, expect.anything()]),
    patience,
  );
  expect((await approveNewest("chain-relayer", { RELAYER_ADDRESS: relayer!.grpc })).code).toBe(0);
  await relayer!.stop();
  await relayer!.start({ PAYMENT_MANAGER_ADDRESS: next });
  await until(between, "CONFIRMED");
  const transfer = { fromWalletId: payer.walletId, toWalletId: payee.walletId, amountWon: "10" };
  const after = await book.post("trf", {
    $case: "transfer",
    value: { ...transfer, dailyLimitWon: NO_LIMIT },
  });
  await until(after, "CONFIRMED");
  expect(await calledManagers()).toEqual([
    world.contracts.paymentManagerAddress.toLowerCase(),
    next.toLowerCase(),
  ]);

  expect(await admin("rescan", "--from", "1", ...REASON)).toEqual([0, expect.anything()]);
  await eventually(async () => expect(await isCaughtUp()).toBe(true), patience);
  expect(await world.relayerDb.query(sql`select from deposits`)).toEqual([]);
  expect(await world.relayerDb.query(sql`select kind from drifts`)).toEqual([]);
  expect(await book.differences()).toEqual([]);
}, 240_000);

async function deployNext(): Promise<string> {
  const path = join(REPOSITORY, "contracts/artifacts/PaymentManager.json");
  const { bytecode } = JSON.parse(readFileSync(path, "utf8")) as { bytecode: string };
  const { tokenAddress } = world.contracts;
  const args = AbiCoder.defaultAbiCoder().encode(
    ["address", "address", "uint48", "address"],
    [tokenAddress, world.admin, 86_400n, world.operator],
  );
  const { contractAddress } = await asAdmin({ data: bytecode + args.slice(2) });
  for (const role of ["MINTER_ROLE", "BURNER_ROLE"])
    await asAdmin({
      to: tokenAddress,
      data: tokenAbi.encodeFunctionData("grantRole", [id(role), contractAddress]),
    });
  await asAdmin(allow(contractAddress, 10n ** 15n));
  return contractAddress;
}

function allow(minter: string, units: bigint) {
  const data = tokenAbi.encodeFunctionData("setMintAllowance", [minter, units]);
  return { to: world.contracts.tokenAddress, data };
}

async function asAdmin(call: { to?: string; data: string }): Promise<{ contractAddress: string }> {
  const transaction = { from: world.admin, gas: "0x4c4b40", ...call };
  const hash = await world.node.rpc<string>("eth_sendTransaction", [transaction]);
  let receipt: { status: string; contractAddress: string } | null = null;
  await eventually(async () => {
    receipt = await world.node.rpc("eth_getTransactionReceipt", [hash]);
    expect(receipt).toMatchObject({ status: "0x1" });
  }, patience);
  return receipt!;
}

function until(ledgerRef: string, state: string, reason?: string): Promise<void> {
  const what = reason === undefined ? { state } : { state, wait_reason: reason };
  return eventually(async () => {
    const found = (await readOperations(world)).find(({ ledger_ref: ref }) => ref === ledgerRef);
    expect(found).toMatchObject(what);
  }, patience);
}

async function calledManagers(): Promise<string[]> {
  const rows = await world.relayerDb.query<{ recipient: string }>(sql`
    select lower(recipient) as recipient from transactions where octet_length(call_data) > 0
    group by 1 order by min(transaction_id)`);
  return rows.map(({ recipient }) => recipient);
}

async function isCaughtUp(): Promise<boolean> {
  const row = await world.relayerDb.one<{ caught: boolean }>(
    sql`select rewound_from_number is not null and block_number > rewound_from_number as caught from scan_cursor`,
  );
  return row.caught;
}

async function admin(...args: string[]): Promise<[number, string]> {
  let output = "";
  const hear = (text: string) => void (output += text);
  const config = { RELAYER_ADDRESS: world.relayers[0]!.grpc, USER: "tester" };
  const code = await runAdmin(args, { config, out: hear, err: hear });
  return [code, output];
}
