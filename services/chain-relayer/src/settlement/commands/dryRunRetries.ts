import { type Database } from "@wonrail/kit/db";
import { wonToTokenUnits } from "@wonrail/kit/contract/money";
import { groupBy } from "@wonrail/kit/groupBy";
import {
  type Block,
  encodeExecute,
  encodeTakeAll,
  findMintAllowance,
  type Provider,
  reasonOf,
  RpcRefusal,
  type Signer,
} from "../../evm";
import { type Step } from "../domain/steps";
import { type Operation } from "../store/operations";
import { postpone, postponeRefused } from "../store/plannedOperations";
import { authorizeBatch, type AuthorizeDeps, type Ready } from "./authorizeBatch";

export interface DryRunDeps extends AuthorizeDeps {
  db: Database;
  provider: Pick<Provider, "callAt">;
  signer: Pick<Signer, "address">;
  chain: AuthorizeDeps["chain"] & { tokenAddress: string; paymentManagerAddress: string };
}

/** Why the chain refuses not one operation but all that are like it, until somebody changes that there. */
const OF_ALL = new Set([
  "batch_reverted",
  "operator_role_missing",
  "EnforcedPause",
  "AccessControlUnauthorizedAccount",
]);
const NOT_ALLOWED = "MintAllowanceExceeded";
const ASK_AGAIN_MS = 15_000;
/** So many are signed to find one that custody signs. */
const AT_ONCE = 20;

/**
 * What a paused token or a missing role has refused is not sent again, for gas, as long as a question that costs nothing says that it would be refused:
 * one of them is asked about for all. Answers those that may go. So it is with what is beyond the allowance to mint.
 */
export async function dryRunRetries(
  deps: DryRunDeps,
  planned: Operation[],
  latest: Block,
): Promise<Operation[]> {
  const refused = planned.filter(({ waitReason }) => waitReason !== null && OF_ALL.has(waitReason));
  const left = new Set<Operation>();
  for (const same of groupBy(refused, ({ waitReason }) => waitReason!).values())
    if (!(await mayGo(deps, same, latest))) for (const operation of same) left.add(operation);
  for (const operation of await beyondAllowance(deps, planned, latest)) left.add(operation);
  return planned.filter((operation) => !left.has(operation));
}

/** Of what may not be minted until somebody allows more, no more goes again than is allowed by now. */
async function beyondAllowance(
  { db, provider, chain }: DryRunDeps,
  planned: Operation[],
  latest: Block,
): Promise<Operation[]> {
  const refused = planned.filter(({ waitReason }) => waitReason === NOT_ALLOWED);
  if (refused.length === 0) return [];
  let allowed = await findMintAllowance(provider, chain, latest.number);
  const beyond = refused.filter(({ steps }) => {
    const units = mintedBy(steps);
    if (units > allowed) return true;
    allowed -= units;
    return false;
  });
  if (beyond.length > 0) await postpone(db, beyond, NOT_ALLOWED, ASK_AGAIN_MS);
  return beyond;
}

function mintedBy(steps: readonly Step[]): bigint {
  return steps.reduce(
    (sum, { fromWalletId, amountWon }) => (fromWalletId === null ? sum + wonToTokenUnits(amountWon) : sum),
    0n,
  );
}

async function mayGo(deps: DryRunDeps, same: Operation[], latest: Block): Promise<boolean> {
  const one = await authorizeOne(deps, same.slice(0, AT_ONCE), latest);
  if (!one) return false;
  const reason = await findRefusal(deps, one, latest);
  // What is refused for a reason of its own is sent: its outcome is read in final blocks.
  if (reason === null || !OF_ALL.has(reason)) return true;
  await postpone(deps.db, same, reason, ASK_AGAIN_MS);
  return false;
}

/** Null when custody signs for none of them: then the others are asked about in the next round. */
async function authorizeOne(deps: DryRunDeps, operations: Operation[], latest: Block): Promise<Ready | null> {
  const { ready, refused } = await authorizeBatch(deps, operations, latest.time);
  if (ready[0]) return ready[0];
  for (const [reason, unsigned] of refused) await postponeRefused(deps.db, unsigned, reason);
  return null;
}

/** First whether the operator may settle at all, then whether the steps would be done. */
async function findRefusal(
  { provider, signer, chain }: DryRunDeps,
  { chainOperation }: Ready,
  latest: Block,
): Promise<string | null> {
  const manager = chain.paymentManagerAddress;
  const ask = (data: Buffer, from: string) =>
    provider.callAt(manager, `0x${data.toString("hex")}`, latest.number, from).then(() => null, refusalOf);
  const ofBatch = await ask(encodeExecute([chainOperation]), signer.address);
  if (ofBatch === "AccessControlUnauthorizedAccount") return "operator_role_missing";
  return ask(encodeTakeAll(chainOperation.steps), manager);
}

/** Nodes wrap what the contract gave in words of their own. One that gives none has said nothing. */
function refusalOf(error: unknown): string | null {
  if (!(error instanceof RpcRefusal)) throw error;
  const [data] = /0x[0-9a-fA-F]{8,}/.exec(JSON.stringify(error.data) ?? "") ?? [];
  return data === undefined ? null : reasonOf(data);
}
