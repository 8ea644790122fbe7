import { readAddress } from "@wonrail/kit/contract/address";
import { chunksOf } from "@wonrail/kit/chunksOf";
import { type Database } from "@wonrail/kit/db";
import { wonToTokenUnits } from "@wonrail/kit/contract/money";
import {
  AuthorizationKind,
  type AuthorizationIntent,
  type SignedAuthorization,
} from "@wonrail/proto/wallet/v1/wallet";
import { type ChainOperation, type ChainStep } from "../../evm";
import { type Step, walletsOf } from "../domain/steps";
import { isHold, type Operation } from "../store/operations";
import { findDatabaseTime } from "../store/databaseTime";
import { REFUSED_BY_CUSTODY } from "../store/plannedOperations";
import { findUsedAuthorizations, type WalletClient } from "../../indexer";
import { callWithBisection } from "./callWithBisection";
import { type ResolvedAddresses, resolveAddresses } from "./resolveAddresses";
import { findRemainingSteps } from "../queries/settlementsByOthers";

export interface AuthorizeDeps {
  db: Database;
  wallet: WalletClient;
  chain: { chainId: bigint; tokenAddress: string };
  authorizationLifeSeconds: bigint;
  /**
   * Time for which a hold is retried after a refusal for its own cause. No authorization of a hold
   * lasts longer.
   */
  outsideLifeMs: number;
}

/** An operation with everything for the chain. */
export interface Ready {
  operation: Operation;
  chainOperation: ChainOperation;
}

/** An operation during authorization, or the reason against it. */
interface Draft {
  operation: Operation;
  steps: Step[];
  validBefore: bigint;
  /** One signature per step; empty for a mint. */
  signatures: Uint8Array[];
  reason: string | null;
}

const AT_ONCE = 500;
const NO_SIGNATURE = new Uint8Array(0);
/** Custody refuses a whole call for a malformed intent. */
const BAD_SIGNATURE = `${REFUSED_BY_CUSTODY}bad_signature`;
const MALFORMED = `${REFUSED_BY_CUSTODY}malformed`;

/** Has custody sign every leg of these operations. Answers the refused ones by reason. */
export async function authorizeBatch(
  deps: AuthorizeDeps,
  batch: Operation[],
  chainTime: bigint,
): Promise<{ ready: Ready[]; refused: Map<string, Operation[]> }> {
  const known = await resolveAddresses(deps, batch);
  const { addresses } = known;
  const legs = batch.flatMap(({ steps }) =>
    steps.flatMap(({ fromWalletId, nonce }) => (fromWalletId === null ? [] : [{ fromWalletId, nonce }])),
  );
  const used = await findUsedAuthorizations(deps.db, legs);
  const now = await findTime(deps, chainTime);
  const drafts = batch.map((operation): Draft => {
    const steps = findRemainingSteps(operation, used, addresses);
    return {
      operation,
      steps,
      validBefore: endOf(deps, operation, now),
      signatures: steps.map(() => NO_SIGNATURE),
      reason: reasonAgainst(operation, known),
    };
  });
  await sign(deps, drafts, addresses);
  const refused = new Map<string, Operation[]>();
  const ready = drafts.flatMap((draft) => {
    if (draft.reason === null) return [toReady(draft, addresses)];
    refused.set(draft.reason, [...(refused.get(draft.reason) ?? []), draft.operation]);
    return [];
  });
  return { ready, refused };
}

/** The time of the next block: a chain that mines on demand has no block of now. */
async function findTime({ db }: AuthorizeDeps, chainTime: bigint): Promise<bigint> {
  const now = await findDatabaseTime(db);
  return now > chainTime ? now : chainTime;
}

/**
 * No authorization outlasts the running clock of its hold, so that the hold can be given up at
 * once.
 */
function endOf(
  { authorizationLifeSeconds, outsideLifeMs }: AuthorizeDeps,
  operation: Operation,
  now: bigint,
): bigint {
  const end = now + authorizationLifeSeconds;
  if (!isHold(operation)) return end;
  const { expiresAt } = operation;
  const clock = expiresAt === null ? 0n : BigInt(Math.floor(expiresAt.getTime() / 1000));
  const limit = clock > now ? clock : now + BigInt(Math.ceil(outsideLifeMs / 1000));
  return limit < end ? limit : end;
}

function reasonAgainst({ steps }: Operation, { addresses, malformed }: ResolvedAddresses): string | null {
  const unknown = walletsOf(steps).filter((walletId) => !addresses.has(walletId));
  const isOutside = ({ toAddress }: Step) => toAddress !== null && readAddress(toAddress) === null;
  if (unknown.some((walletId) => malformed.has(walletId)) || steps.some(isOutside)) return MALFORMED;
  return unknown.length > 0 ? `${REFUSED_BY_CUSTODY}unknown_wallet` : null;
}

interface Leg {
  draft: Draft;
  step: Step;
  /** Its place in the draft. */
  index: number;
}

async function sign(
  { wallet, chain }: AuthorizeDeps,
  drafts: Draft[],
  addresses: Map<string, string>,
): Promise<void> {
  const legs = drafts.flatMap((draft): Leg[] =>
    draft.reason !== null
      ? []
      : draft.steps.flatMap((step, index) => (step.fromWalletId === null ? [] : [{ draft, step, index }])),
  );
  for (const part of chunksOf(legs, AT_ONCE)) {
    const signed = await callWithBisection(part, async (some) => {
      const intents = some.map((leg) => intentOf(leg, chain, addresses));
      return (await wallet.signAuthorizations({ intents })).signatures;
    });
    part.forEach(({ draft, index }, place) => take(draft, index, signed[place]));
  }
}

function intentOf(
  { draft, step }: Leg,
  chain: AuthorizeDeps["chain"],
  addresses: Map<string, string>,
): AuthorizationIntent {
  return {
    orgId: draft.operation.orgId,
    ledgerRef: draft.operation.ledgerRef,
    fromWalletId: step.fromWalletId!,
    toAddress: step.kind === "BURN" ? "" : addressOf(step, addresses),
    amountWon: step.amountWon.toString(),
    nonce: Buffer.from(step.nonce, "hex"),
    validBefore: draft.validBefore,
    chainId: chain.chainId,
    tokenAddress: chain.tokenAddress,
    kind: step.kind === "BURN" ? AuthorizationKind.BURN : AuthorizationKind.TRANSFER,
  };
}

/** Null if custody refused to look at the intent. */
function take(draft: Draft, index: number, signed: SignedAuthorization | null | undefined): void {
  if (signed === null) draft.reason = MALFORMED;
  else if (signed?.outcome?.$case === "signature") {
    const signature = signed.outcome.value;
    if (isSignature(signature)) draft.signatures[index] = signature;
    else draft.reason = BAD_SIGNATURE;
  } else draft.reason = `${REFUSED_BY_CUSTODY}${reasonOf(signed)}`;
}

/** The form that the contract's call takes; any other would fail the whole batch. */
function isSignature(bytes: Uint8Array): boolean {
  return bytes.length === 65 && (bytes[64] === 27 || bytes[64] === 28);
}

function reasonOf(signed: SignedAuthorization | undefined): string {
  const details = signed?.outcome?.$case === "error" ? signed.outcome.value.detailsJson : undefined;
  const parsed = (details === undefined ? null : parseJson(details)) as { reason?: unknown } | null;
  return typeof parsed?.reason === "string" ? parsed.reason : "refused";
}

/** Null of a text that is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function toReady(
  { operation, steps, validBefore, signatures }: Draft,
  addresses: Map<string, string>,
): Ready {
  const chainSteps = steps.map((step, index): ChainStep => ({
    kind: step.kind,
    from: step.fromWalletId === null ? "" : addresses.get(step.fromWalletId)!,
    to: step.kind === "BURN" ? "" : addressOf(step, addresses),
    units: wonToTokenUnits(step.amountWon),
    validBefore,
    nonce: step.nonce,
    signature: signatures[index]!,
  }));
  return { operation, chainOperation: { operationId: operation.operationId, steps: chainSteps } };
}

function addressOf({ toAddress, toWalletId }: Step, addresses: Map<string, string>): string {
  return toAddress ?? addresses.get(toWalletId!)!;
}
