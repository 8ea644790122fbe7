// A reorganisation of final blocks. The books stay unchanged, an alarm fires, and the operators'
// tool shows the reason.
import { runAdmin } from "@wonrail/chain-relayer/admin";
import { tokenAbi } from "@wonrail/chain-relayer/evm/contracts";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { NO_LIMIT, openBook } from "./support/book";
import { openWorld, type World } from "./support/world";

const OUTSIDE = "0x00000000000000000000000000000000000a11ce";
const WON = 1_000_000n;
const patience = { timeoutMs: 60_000 };
const FEES = { gas: "0x30d40", maxFeePerGas: "0x1bf08eb000", maxPriorityFeePerGas: "0x3b9aca00" };

let world: World;

beforeAll(async () => {
  world = await openWorld({ relayers: 1 });
  world.node.run(150);
  await world.node.rpc("anvil_setBalance", [OUTSIDE, "0x3635c9adc5dea00000"]);
  await world.node.rpc("anvil_impersonateAccount", [OUTSIDE]);
}, 240_000);
afterAll(() => world.close(), 120_000);

test("a deposit that is mined again at another log index is credited once, also after a rescan", async () => {
  const book = openBook(world);
  const [source, wallet] = [await book.openWallet("source"), await book.openWallet("wallet")];
  await book.post("chg", { $case: "charge", value: { walletId: source.walletId, amountWon: "2000" } });
  const hold = { walletId: source.walletId, amountWon: "2000", dailyLimitWon: NO_LIMIT, toAddress: OUTSIDE };
  await book.post("hld", { $case: "placeHold", value: hold });
  const confirmed = sql`select from operations where state = 'CONFIRMED'`;
  await eventually(async () => expect(await world.relayerDb.query(confirmed)).toHaveLength(2), patience);
  await world.node.pause();

  const snapshot = await world.node.rpc<string>("evm_snapshot");
  const from = BigInt(await world.node.rpc<string>("eth_blockNumber"));
  const nonce = await world.node.rpc<string>("eth_getTransactionCount", [OUTSIDE, "latest"]);
  await send({ to: wallet.address, units: 5n * WON, nonce });
  await world.node.mine(10);
  const balance = async () => {
    const { accounts } = await world.ledger.getBalances({
      orgId: book.orgId,
      accountIds: [wallet.walletId],
    });
    return accounts[0]?.balanceWon;
  };
  await eventually(async () => expect(await balance()).toBe("5"), patience);

  await world.node.rpc("evm_revert", [snapshot]);
  await somebodyApproves();
  await send({ to: wallet.address, units: 5n * WON, nonce });
  await world.node.mine(20);
  await eventually(async () => expect(await metric("chain_final_block_replaced")).toBe(1), patience);

  const output = await operator("rescan", "--from", String(from), "--reason", "test");
  expect(output).toEqual({ code: 1, err: expect.stringContaining("final blocks were replaced") });
  await world.node.mine(5);
  const failures = 'job_failures_total{job_name="scan_finalized"';
  const before = await metric(failures);
  await eventually(async () => expect(await metric(failures)).toBeGreaterThan(before + 1), patience);
  expect(await balance()).toBe("5");
  expect(await world.relayerDb.query(sql`select from deposits`)).toHaveLength(1);
  expect(await metric("chain_final_block_replaced")).toBe(1);
}, 240_000);

/** Sends from the outside address. Equal each time, so that a second mining gives the same hash. */
function send({ to, units, nonce }: { to: string; units: bigint; nonce: string }): Promise<string> {
  const data = tokenAbi.encodeFunctionData("transfer", [to, units]);
  const transaction = { from: OUTSIDE, to: world.contracts.tokenAddress, data, nonce, ...FEES };
  return world.node.rpc<string>("eth_sendTransaction", [transaction]);
}

/** Offers a higher fee, so that its log becomes the first of the block. */
async function somebodyApproves(): Promise<void> {
  const [from] = await world.node.rpc<string[]>("eth_accounts");
  const data = tokenAbi.encodeFunctionData("approve", [OUTSIDE, 1n]);
  const fees = { ...FEES, maxPriorityFeePerGas: "0x77359400" };
  await world.node.rpc("eth_sendTransaction", [{ from, to: world.contracts.tokenAddress, data, ...fees }]);
}

async function operator(...args: string[]): Promise<{ code: number; err: string }> {
  let output = "";
  const config = { RELAYER_ADDRESS: world.relayers[0]!.grpc, USER: "tester" };
  const code = await runAdmin(args, {
    ...{ config, out: () => undefined },
    err: (text) => void (output += text),
  });
  return { code, err: output };
}

/** Value of the first series whose name starts with this. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://${world.relayers[0]!.ops}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(name));
  return Number(line?.split(" ").at(-1));
}
