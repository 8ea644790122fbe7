import { findValueSharedBy } from "./endpoints";
import { RpcRefusal } from "./rpc";

/**
 * The meaning of a node's answer to eth_sendRawTransaction. An answer that is not certainly a
 * refusal of these bytes means that they may have been sent: look them up, never sign anew.
 */
export type SendOutcome =
  | "sent"
  /** A node has these bytes, or a transaction with this nonce is mined: look up. */
  | "known"
  /** The nonce is used by something that is mined. */
  | "nonce_used"
  /** A transaction with this nonce and higher fees is waiting. */
  | "underpriced"
  | "no_funds"
  /** The fee is below the node's present minimum. */
  | "fee_too_low"
  /** The cost exceeds the node's limit (geth's rpc.txfeecap). */
  | "cost_too_high"
  /** No node will ever take these bytes. */
  | "unacceptable"
  | "unclear";

/**
 * Messages of geth, erigon, nethermind, besu, reth and anvil, which differ for the same outcome.
 */
const WORDS: [RegExp, SendOutcome][] = [
  [
    /already known|\bknown transaction|already imported|already in (the )?(mem)?pool|transaction already exists/i,
    "known",
  ],
  [
    /nonce (is )?too low|old nonce|nonce.*(already|been) used|lower than the (current|account) nonce/i,
    "nonce_used",
  ],
  [
    /replacement.*underpriced|replacement fee too low|could not replace|underpriced to replace/i,
    "underpriced",
  ],
  [
    /exceeds (the )?(block|transaction|tx) gas limit|gas limit (is )?too (high|low)|intrinsic gas|oversized data|exceeds .*size/i,
    "unacceptable",
  ],
  [/exceeds the configured cap|fee cap exceeded/i, "cost_too_high"],
  [/insufficient funds|insufficient balance|out of gas funds/i, "no_funds"],
  [
    /max fee per gas less than block base fee|fee(cap)? (is )?(too low|less than)|below.*base fee|transaction underpriced|gas price below/i,
    "fee_too_low",
  ],
];

export function sendOutcomeOf(error: unknown): SendOutcome {
  if (error instanceof AggregateError) return judge(error.errors);
  return error instanceof RpcRefusal ? meaningOf(error) : "unclear";
}

/**
 * All configured endpoints have refused or not answered. Only a quorum of them gets a nonce emptied
 * or a fee raised. If there is none and an endpoint has the bytes, they are on their way.
 */
function judge(errors: unknown[]): SendOutcome {
  const outcomes = errors.map((error) => (error instanceof RpcRefusal ? meaningOf(error) : "unclear"));
  const decided = findValueSharedBy(outcomes, (errors.length >> 1) + 1);
  return decided ?? (outcomes.includes("known") ? "known" : "unclear");
}

function meaningOf({ message }: RpcRefusal): SendOutcome {
  return WORDS.find(([words]) => words.test(message))?.[1] ?? "unclear";
}
