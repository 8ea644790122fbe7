import { NotTakenError } from "./failures.js";
import { later, unlessInterrupted } from "./interruption.js";

/** Time after an interruption in which the node may still answer. */
const LAST_WORD_MS = 2_000;

// Answers of geth, erigon, nethermind, besu, reth and anvil.
const HAS_IT =
  /already ?known|\bknown transaction|already imported|already in (the )?(mem)?pool|transaction already exists/i;
// Internal errors and time-outs of the node: the transaction may have been accepted before.
const UNCLEAR_CODES = [-32603, -32002];

/** Sends a signed transaction. After a NotTakenError it was not sent; after other errors it may have been. */
export async function broadcast(provider, signed, signal) {
  await unlessInterrupted(later(signal, LAST_WORD_MS), () => give(provider, signed));
}

async function give(provider, { raw, txHash }) {
  try {
    // ethers' broadcastTransaction would also fail when its additional questions fail.
    await provider.send("eth_sendRawTransaction", [raw]);
  } catch (error) {
    const answer = answerOf(error);
    if (answer === undefined || UNCLEAR_CODES.includes(answer.code)) throw error;
    if (HAS_IT.test(answer.message)) return;
    // A proxy may have sent it twice, so the nonce is used by this transaction itself.
    if ((await provider.send("eth_getTransactionByHash", [txHash])) !== null) return;
    throw new NotTakenError(answer.message);
  }
}

/** The node's own error, at any of ethers' places. Undefined when the node did not answer. */
function answerOf({ info, error }) {
  const causes = [info?.error, info?.info?.error, error];
  // Node's and ethers' errors have words as codes.
  return causes.find((cause) => Number.isInteger(cause?.code));
}
