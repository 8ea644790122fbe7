import { formatUnits } from "@wonrail/sdk";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { exampleWallet } from "../support/exampleWallet.js";
import { afterMoney, UsageError } from "../support/failures.js";
import { unlessInterrupted } from "../support/interruption.js";
import { openToken } from "../support/token.js";

const GAS_WEI = "0x8ac7230489e80000"; // 10 of the chain's own coin

export const fund = {
  summary: "put money into the example's wallet and the sender's address, on a local test network",
  takes: [],
  options: {
    amount: { type: "string", help: "for each of the two, in whole KRW; 50000 unless given" },
    key: { type: "string", help: "that of an earlier try, to go on with it; one is made unless given" },
  },
  examples: ["fund", "fund --amount 100000"],
  async run({ values, settings, output, signal }) {
    const amount = Number(values.amount ?? 50_000);
    if (!Number.isSafeInteger(amount)) throw new UsageError("--amount must be a whole number of KRW.");
    const client = settings.client();
    const token = await openToken(client.network, settings.senderKey, signal);
    try {
      const { walletId, walletAddress } = await exampleWallet(client, signal);
      // Both calls share the key: keys are separate for each kind of call.
      const idempotencyKey = values.key ?? randomUUID();
      output.kept("key", { idempotencyKey });
      const keyed = { signal, idempotencyKey };
      await client.charges.create({ walletId, amount: amount * 2 }, keyed);
      output.step(`charged   ${walletId} with ${amount * 2} KRW`);
      const senderBalance = await afterMoney({ idempotencyKey }, () =>
        fundSender({ client, output, token, keyed, walletId, amount }),
      );
      output.result({ walletId, walletAddress, sender: token.wallet.address, senderBalance });
    } finally {
      token.close();
    }
  },
};

async function fundSender({ client, output, token, keyed, walletId, amount }) {
  const { signal } = keyed;
  const sender = token.wallet.address;
  const request = { fromWalletId: walletId, toWalletAddress: sender, amount };
  const { transferId } = await client.transfers.create(request, keyed);
  output.step(`transfers ${transferId}: ${amount} KRW to ${sender}`);
  await untilCompleted({ client, output, signal, transferId });
  return unlessInterrupted(signal, async () => {
    // Only a development node grants gas. On other chains the address needs its own.
    await token.provider.send("anvil_setBalance", [sender, GAS_WEI]).catch(() => {
      if (!signal.aborted) output.step("no gas given");
    });
    return formatUnits(await token.contract.balanceOf(sender));
  });
}

const POLL_MS = 500;
const MAX_POLLS = 240;

async function untilCompleted({ client, output, signal, transferId }) {
  const spinner = output.spinner("waiting for the chain");
  try {
    for (let poll = 0; poll < MAX_POLLS; poll += 1) {
      const { status, settlement, failureReason } = await client.transfers.get(transferId, { signal });
      if (status === "COMPLETED") return;
      if (status === "FAILED") throw new Error(`The transfer failed: ${failureReason}`);
      spinner.update(`settlement is ${settlement.status}`);
      await sleep(POLL_MS, undefined, { signal });
    }
    throw new Error(`The transfer was not settled within ${(POLL_MS * MAX_POLLS) / 1000} s.`);
  } finally {
    spinner.stop();
  }
}
