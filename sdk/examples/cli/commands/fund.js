import { formatUnits } from "@wonrail/sdk";
import { setTimeout as sleep } from "node:timers/promises";
import { exampleWallet } from "../support/exampleWallet.js";
import { UsageError } from "../support/failures.js";
import { openToken } from "../support/token.js";

const GAS_WEI = "0x8ac7230489e80000"; // 10 of the chain's own coin

export const fund = {
  summary: "put money into the example's wallet and the sender's address, on a local test network",
  takes: [],
  options: { amount: { type: "string", help: "for each of the two, in whole KRW; 50000 unless given" } },
  examples: ["fund", "fund --amount 100000"],
  async run({ values, settings, output, signal }) {
    const amount = Number(values.amount ?? 50_000);
    if (!Number.isSafeInteger(amount)) throw new UsageError("--amount must be a whole number of KRW.");
    const client = settings.client();
    const token = await openToken(client.network, settings.senderKey);
    try {
      const { walletId, walletAddress } = await exampleWallet(client);
      await client.charges.create({ walletId, amount: amount * 2 }, { signal });
      output.step(`charged   ${walletId} with ${amount * 2} KRW`);
      const sender = token.wallet.address;
      const { transferId } = await client.transfers.create(
        { fromWalletId: walletId, toWalletAddress: sender, amount },
        { signal },
      );
      output.step(`transfers ${transferId}: ${amount} KRW to ${sender}`);
      await untilCompleted({ client, output, signal, transferId });
      // Only a development node gives gas away; elsewhere the address has to have some.
      await token.provider
        .send("anvil_setBalance", [sender, GAS_WEI])
        .catch(() => output.step("no gas given"));
      const units = await token.contract.balanceOf(sender);
      output.result({ walletId, walletAddress, sender, senderBalance: formatUnits(units) });
    } finally {
      token.provider.destroy();
    }
  },
};

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
