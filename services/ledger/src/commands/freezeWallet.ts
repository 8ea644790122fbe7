import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { assert, DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { type Id, newId } from "@wonrail/kit/contract/ids";
import { type Database, type Tx } from "@wonrail/kit/db";
import { Freeze as FreezeMessage, FreezeSource } from "@wonrail/proto/ledger/v1/intents";
import { type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { type Freeze, isStricter } from "../domain/accountTypes";
import { type Account, type LedgerRequest } from "../domain/types";
import { findAccounts } from "../store/accounts";
import { type Engine } from "./engine";
import { type DecidedGroup } from "./postTogether";

export interface FreezeDeps {
  db: Database;
  engine: Pick<Engine, "postTogether">;
  /** Reads a request of the ledger's own. */
  read: (message: PostRequest) => LedgerRequest;
}

export interface WantedFreeze {
  orgId: Id<"org">;
  walletId: Id<"wal">;
  /** The operators' freeze after the command. */
  freeze: Freeze;
}

/** A wallet with the freeze of each source. */
export interface FrozenWallet {
  orgId: string;
  walletId: string;
  byChain: Freeze;
  byOperator: Freeze;
}

/** Makes the operators' freeze of a wallet stricter. Takes effect at once. */
export function freezeWallet(
  deps: FreezeDeps,
  wanted: WantedFreeze,
  operator: ActingOperator,
): Promise<FrozenWallet> {
  return setFreeze(deps, wanted, operator, (before) => {
    if (!isStricter(wanted.freeze, before)) throw refusal(before, "Use UnfreezeWallet for a weaker freeze");
    return undefined;
  });
}

/** Ends the operators' freeze of a wallet, or makes it weaker. A second operator must approve. */
export function unfreezeWallet(
  deps: FreezeDeps,
  wanted: WantedFreeze,
  operator: ActingOperator,
): Promise<FrozenWallet> {
  const { walletId, freeze } = wanted;
  return setFreeze(deps, wanted, operator, (before) => {
    if (!isStricter(before, freeze)) throw refusal(before, "Use FreezeWallet for a stricter freeze");
    return `Change the operators' freeze of the wallet ${walletId} from ${before} to ${freeze}.`;
  });
}

type Check = (before: Freeze) => string | undefined;

/** Posts the freeze and records the action in one transaction. */
async function setFreeze(
  { db, engine, read }: FreezeDeps,
  wanted: WantedFreeze,
  operator: ActingOperator,
  check: Check,
): Promise<FrozenWallet> {
  const { orgId, walletId, freeze } = wanted;
  // The engine would create accounts for an unknown organisation.
  if ((await findAccounts(db, orgId, [walletId])).length === 0)
    throw new DomainError("WAL_002", { walletId });
  const request = read(messageOf(wanted, operator));
  let byChain: Freeze = "NONE";
  const record = async (tx: Tx, { answers: [answer], accounts }: DecidedGroup) => {
    const account = accounts.find(({ id }) => id === walletId);
    assert(account && answer?.outcome.status === "posted", "a freeze of a known wallet is never refused");
    byChain = account.frozenByChain;
    // A retry after an unknown commit: the first attempt recorded the action.
    if (answer.replayed) return;
    const action = { orgId, subject: walletId, details: detailsOf(account, freeze) };
    const effect = check(account.frozenByOperator);
    await recordOperatorAction(tx, operator, { ...action, ...(effect === undefined ? {} : { effect }) });
  };
  const origin = { requestId: request.requestId, traceparent: "" };
  await engine.postTogether({ requests: [request], origin, isDryRun: false, record });
  return { orgId, walletId, byChain, byOperator: freeze };
}

function detailsOf({ frozenByOperator, frozenByChain }: Account, freeze: Freeze) {
  return { from: frozenByOperator, to: freeze, byChain: frozenByChain };
}

/** The audit trail has the operator's whole reason. */
function messageOf({ orgId, walletId, freeze }: WantedFreeze, { name }: ActingOperator): PostRequest {
  const reason = `by the operator ${name}`;
  const value = { walletId, freeze: FreezeMessage[freeze], source: FreezeSource.OPERATOR, reason };
  return {
    context: { orgId, requestId: newId("req"), traceparent: "" },
    requestId: newId("opn"),
    metadata: {},
    intent: { $case: "freezeAccount", value },
  };
}

function refusal(before: Freeze, remedy: string): Error {
  return invalidRequest([{ path: "freeze", message: `the operators' freeze is ${before}. ${remedy}` }]);
}
