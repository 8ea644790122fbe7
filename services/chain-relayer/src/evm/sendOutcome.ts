import { mostOf } from "./endpoints";
import { RpcRefusal } from "./rpc";

/**
 * What a node's answer to eth_sendRawTransaction means. Anything that is not certainly a refusal of these very bytes is "perhaps sent", and is
 * looked up, never answered with a new transaction.
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
  /** The fee is below what the node takes now. */
  | "fee_too_low"
  /** It may cost more than the node lets anybody pay (geth's rpc.txfeecap). */
  | "cost_too_high"
  /** No node will ever take these bytes. */
  | "unacceptable"
  | "unclear";

/** Nodes say the same thing in many words; these are geth's, erigon's, nethermind's, besu's, reth's and anvil's. */
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
 * Of several endpoints that all refuse, one alone must not get a nonce emptied or a fee raised by what it says: more than half of those that
 * answered decide. Where there is no such answer but one has the bytes, they are under way.
 */
function judge(errors: unknown[]): SendOutcome {
  const outcomes = errors.filter((error) => error instanceof RpcRefusal).map(meaningOf);
  return mostOf(outcomes) ?? (outcomes.includes("known") ? "known" : "unclear");
}

function meaningOf({ message }: RpcRefusal): SendOutcome {
  return WORDS.find(([words]) => words.test(message))?.[1] ?? "unclear";
}
