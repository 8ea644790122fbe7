import { type Won, won } from "@wonrail/kit/contract/money";

/** A request to sign one leg, with parsed amounts and times. */
export interface SigningIntent {
  orgId: string;
  ledgerRef: string;
  fromWalletId: string;
  kind: "TRANSFER" | "BURN";
  toAddress: string;
  amountWon: Won;
  nonce: string;
  validBeforeMs: number;
  chainId: bigint;
  tokenAddress: string;
}

/** The ledger's operation behind an intent. Amounts are net per wallet. */
export interface LedgerOperation {
  /** The net amount that leaves each paying wallet. */
  outflow: ReadonlyMap<string, Won>;
  /**
   * The net amount that each address, in lower case, may receive. For a hold this is the outside
   * address.
   */
  payable: ReadonlyMap<string, Won>;
  /** The net amount that leaves all wallets together, which may be burned. */
  burnable: Won;
  /** The call that moved the money, for the logs. Null when no call from outside did. */
  origin: { requestId: string; traceId: string } | null;
}

/** The identity of a leg. A leg is signed for once. */
export type Leg = Pick<SigningIntent, "orgId" | "ledgerRef" | "fromWalletId" | "kind" | "toAddress">;

/** A leg as signed before. */
export type SignedLeg = Leg & Pick<SigningIntent, "nonce" | "amountWon">;

export interface SigningFacts {
  chainId: bigint;
  tokenAddress: string;
  nowMs: number;
  horizonMs: number;
  walletKnown: boolean;
  operation: LedgerOperation | undefined;
  /** The same leg, if it was signed before. */
  earlier: SignedLeg | undefined;
  /** The amount signed for the operation's other legs from the same wallet. */
  otherLegsWon: Won;
  /**
   * The amount signed for this operation from other wallets to the same address, or to be burned.
   */
  otherPayersWon: Won;
}

export type RefusalReason =
  | "wrong_chain"
  | "wrong_token"
  | "unknown_wallet"
  | "unknown_operation"
  | "not_in_operation"
  | "horizon"
  | "expired"
  | "signed_otherwise"
  | "over_wallet_limit"
  | "over_organisation_limit"
  | "over_global_limit"
  /** The leg alone exceeds an hourly limit: an operator must raise it. */
  | "leg_over_limit"
  /** The rules allow the leg, but the organisation's seed does not open. */
  | "key_unavailable";

/** Returns the reason to refuse an intent, or null. */
export function refusalOf(intent: SigningIntent, facts: SigningFacts): RefusalReason | null {
  if (intent.chainId !== facts.chainId) return "wrong_chain";
  if (intent.tokenAddress.toLowerCase() !== facts.tokenAddress.toLowerCase()) return "wrong_token";
  if (!facts.walletKnown) return "unknown_wallet";
  if (!facts.operation) return "unknown_operation";
  if (!covers(facts.operation, intent, facts)) return "not_in_operation";
  if (intent.validBeforeMs <= facts.nowMs) return "expired";
  if (intent.validBeforeMs > facts.nowMs + facts.horizonMs) return "horizon";
  // Also after the first authorization ended: custody cannot know whether it was used before.
  if (facts.earlier && !isRepeat(intent, facts.earlier)) return "signed_otherwise";
  return null;
}

/**
 * True for the same leg under the same nonce, with any end. The chain executes a nonce once, so the leg
 * counts once.
 */
export function isRepeat(intent: SigningIntent, earlier: SignedLeg | undefined): boolean {
  return earlier !== undefined && earlier.nonce === intent.nonce && earlier.amountWon === intent.amountWon;
}

function covers(
  operation: LedgerOperation,
  intent: SigningIntent,
  { otherLegsWon, otherPayersWon }: Pick<SigningFacts, "otherLegsWon" | "otherPayersWon">,
): boolean {
  const outflow = operation.outflow.get(intent.fromWalletId) ?? won(0n);
  const room =
    intent.kind === "BURN"
      ? operation.burnable
      : (operation.payable.get(intent.toAddress.toLowerCase()) ?? won(0n));
  return intent.amountWon + otherLegsWon <= outflow && intent.amountWon + otherPayersWon <= room;
}

export interface VelocityLimits {
  walletWon: Won;
  organisationWon: Won;
  globalWon: Won;
}

/**
 * Spends from this hour's limits. The first exhausted scope refuses, and nothing is spent. A leg
 * above a limit has its own reason. A limit of 0 stops its scope.
 */
export function spendVelocity(
  used: Map<string, Won>,
  intent: Pick<SigningIntent, "orgId" | "fromWalletId" | "amountWon">,
  limits: VelocityLimits,
): RefusalReason | null {
  const scopes: [string, Won, RefusalReason][] = [
    [walletScope(intent), limits.walletWon, "over_wallet_limit"],
    [organisationScope(intent), limits.organisationWon, "over_organisation_limit"],
    [GLOBAL_SCOPE, limits.globalWon, "over_global_limit"],
  ];
  if (scopes.some(([, limit]) => limit > 0n && intent.amountWon > limit)) return "leg_over_limit";
  const after = scopes.map(([scope]) => won((used.get(scope) ?? 0n) + intent.amountWon));
  const full = scopes.find(([, limit], index) => after[index]! > limit);
  if (full) return full[2];
  scopes.forEach(([scope], index) => used.set(scope, after[index]!));
  return null;
}

export const GLOBAL_SCOPE = "all";

export function walletScope({ fromWalletId }: Pick<SigningIntent, "fromWalletId">): string {
  return `wallet/${fromWalletId}`;
}

export function organisationScope({ orgId }: Pick<SigningIntent, "orgId">): string {
  return `org/${orgId}`;
}
