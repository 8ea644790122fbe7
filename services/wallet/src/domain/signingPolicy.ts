import { type Won, won } from "@wonrail/kit/contract/money";

/** A wish to sign, as far as rules need it. Amounts and times are parsed already. */
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
  /** For the logs only. */
  origin: { requestId: string; traceparent: string };
}

/** What the ledger says of the operation behind an intent: all lines of each wallet together. */
export interface LedgerOperation {
  /** What leaves each wallet that has less afterwards. */
  outflow: ReadonlyMap<string, Won>;
  /** What may go to an address, lower case: of each wallet that has more afterwards and, for a hold, the outside one. */
  payable: ReadonlyMap<string, Won>;
  /** What the wallets have less afterwards, all together: what may be burned. */
  burnable: Won;
}

/** What names a leg: no more is ever signed for it than once. */
export type Leg = Pick<SigningIntent, "orgId" | "ledgerRef" | "fromWalletId" | "kind" | "toAddress">;

/** What was signed before. */
export type SignedLeg = Leg & Pick<SigningIntent, "nonce" | "amountWon">;

export interface SigningFacts {
  chainId: bigint;
  tokenAddress: string;
  nowMs: number;
  horizonMs: number;
  walletKnown: boolean;
  operation: LedgerOperation | undefined;
  /** Of the same leg. */
  earlier: SignedLeg | undefined;
  /** What was signed for the other legs of this operation out of the same wallet. */
  otherLegsWon: Won;
  /** What was signed for this operation to the same address, or to be burned, out of other wallets. */
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
  /** Alone more than a limit, in whatever hour it is asked for: somebody has to raise that. */
  | "leg_over_limit"
  /** Nothing speaks against it, but the organisation's seed does not open. */
  | "key_unavailable";

/** Why an intent is not signed; null when nothing speaks against it. */
export function refusalOf(intent: SigningIntent, facts: SigningFacts): RefusalReason | null {
  if (intent.chainId !== facts.chainId) return "wrong_chain";
  if (intent.tokenAddress.toLowerCase() !== facts.tokenAddress.toLowerCase()) return "wrong_token";
  if (!facts.walletKnown) return "unknown_wallet";
  if (!facts.operation) return "unknown_operation";
  if (!covers(facts.operation, intent, facts)) return "not_in_operation";
  if (intent.validBeforeMs <= facts.nowMs) return "expired";
  if (intent.validBeforeMs > facts.nowMs + facts.horizonMs) return "horizon";
  // For ever, also when the first has ended: nobody here knows whether it was used before that.
  if (facts.earlier && !isRepeat(intent, facts.earlier)) return "signed_otherwise";
  return null;
}

/** The same leg under the same nonce, perhaps with a later end: of all its authorizations only one can ever execute, so it is counted once. */
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
 * Spends from what was signed for in this hour; the first scope that is full refuses, and then nothing is spent. What no hour has room for is told apart. A
 * limit of 0 is no measure of a leg: it stops its scope.
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
