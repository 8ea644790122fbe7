import { type Cast } from "./money";
import { krw, screen } from "./screen";
import { type Demo, until } from "./demo";

const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const AMOUNT = 500;

/** Rehearses an error, a failed settlement and a deposit, which only a test network allows. */
export async function sandboxChapter({ api }: Demo, { alice }: Cast): Promise<void> {
  screen.chapter("Rehearsals in the sandbox");
  const transfer = { fromWalletId: alice.walletId, toWalletAddress: OUTSIDE, amount: AMOUNT };
  const memo = "sandbox:TRF_003";
  const refused = await api.call("POST", "/api/wallets/transfer", { ...transfer, memo });
  screen.line(`the memo ${memo} is answered ${refused.status} ${refused.body.error?.code}`);

  const failing = { ...transfer, memo: "sandbox:settlement_failed" };
  const { transferId } = await api.post("/api/wallets/transfer", failing);
  const { failureReason } = await until(
    () => api.get(`/api/wallets/transfer/${transferId}`),
    ({ status }) => status === "FAILED",
  );
  screen.done(
    `a transfer of ${krw(AMOUNT)} outside failed with proof (${failureReason}), and the hold is gone`,
  );

  const deposit = await api.post("/api/sandbox/deposits", { walletId: alice.walletId, amount: AMOUNT });
  await until(
    () => api.get("/api/events?types=deposit.credited&order=desc"),
    ({ items }) => JSON.stringify(items).includes(deposit.txHash as string),
  );
  screen.done(`a deposit of ${krw(AMOUNT)} from ${deposit.fromAddress} was credited`);
  const clock = await api.post("/api/sandbox/clocks", undefined);
  screen.line(`the test clock of the organisation shows ${clock.time}`);
}
