import { type Database } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { type Log } from "@wonrail/kit/log";
import { type Provider, type SendOutcome, sendOutcomeOf } from "../../evm";
import { recordSend } from "../store/transactions";

/**
 * R3, R4: sends the stored bytes to the nodes. Whatever they answer, the bytes may be sent again.
 */
export async function broadcast(
  { db, provider, log }: { db: Database; provider: Provider; log: Log },
  { transactionId, raw, txHash }: { transactionId: bigint; raw: Buffer; txHash: string },
): Promise<SendOutcome> {
  let outcome: SendOutcome = "sent";
  try {
    await provider.send(`0x${raw.toString("hex")}`);
  } catch (error) {
    outcome = sendOutcomeOf(error);
    log.warn(
      { txHash, outcome, reason: error instanceof Error ? error.message : String(error) },
      "not certainly sent",
    );
  }
  await failpoint("relayer.r3");
  await recordSend(db, transactionId, outcome === "sent" || outcome === "known" || outcome === "unclear");
  await failpoint("relayer.r4");
  return outcome;
}
