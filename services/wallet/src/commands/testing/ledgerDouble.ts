import { DomainError } from "@wonrail/kit/contract/errors";
import { type GrpcService, implement } from "@wonrail/kit/grpc/server";
import { AccountType, IntentKind } from "@wonrail/proto/ledger/v1/intents";
import {
  type Account,
  Entry,
  Hold,
  HoldStatus,
  LedgerServiceService,
  type PostRequest,
  type PostResponse,
  RequestState,
} from "@wonrail/proto/ledger/v1/ledger";

/** A fake of the ledger for the wallet service: accounts that open and close, and given entries. */
export interface LedgerDouble {
  service: GrpcService;
  /** Wallets with an open account. */
  opened: Set<string>;
  /** Every request to open, close or open again, also the refused and the repeated. */
  asked: string[];
  /** Overrides the answer; undefined keeps the usual one. */
  refuse: (request: PostRequest) => Error | undefined | Promise<Error | undefined>;
  refuseBalances: () => Error | undefined;
  /** The balances of these accounts; other accounts have none. */
  balances: Map<string, { balanceWon: string; availableWon: string }>;
  /**
   * Called after the decision on an account: delays the answer, or returns the error that replaces
   * it.
   */
  loseAnswer: () => Error | undefined | Promise<Error | undefined>;
  holdsMoney: Set<string>;
  /** An entry of any lines; debits are negative. */
  addEntry(of: {
    orgId: string;
    ledgerRef: string;
    kind?: IntentKind;
    lines: [accountId: string, amountWon: bigint][];
  }): void;
  addTransfer(of: { orgId: string; ledgerRef: string; from: string; to: string; amountWon: bigint }): void;
  addRefund(of: { orgId: string; ledgerRef: string; from: string; amountWon: bigint }): void;
  addHold(of: {
    orgId: string;
    ledgerRef: string;
    from: string;
    toAddress: string;
    amountWon: bigint;
    status?: HoldStatus;
  }): void;
}

export function createLedgerDouble(): LedgerDouble {
  const requests = new Map<string, RequestState>();
  const add = (
    { orgId, ledgerRef }: { orgId: string; ledgerRef: string },
    kind: IntentKind,
    lines: [string, bigint][],
    hold?: Hold,
  ) => requests.set(`${orgId}|${ledgerRef}`, stateOf(ledgerRef, kind, lines, hold));
  const decided: Decided = new Map();
  const double: LedgerDouble = {
    opened: new Set(),
    asked: [],
    refuse: () => undefined,
    refuseBalances: () => undefined,
    balances: new Map(),
    loseAnswer: () => undefined,
    holdsMoney: new Set(),
    addEntry: ({ kind = IntentKind.PAYMENT, lines, ...names }) => void add(names, kind, lines),
    addTransfer({ from, to, amountWon, ...names }) {
      add(names, IntentKind.TRANSFER, [
        [from, -amountWon],
        [to, amountWon],
      ]);
    },
    addRefund({ from, amountWon, ...names }) {
      add(names, IntentKind.REFUND, [
        [from, -amountWon],
        ["acc_issuance", amountWon],
      ]);
    },
    addHold({ from, toAddress, amountWon, status = HoldStatus.OPEN, ...names }) {
      const amount = { amountWon: amountWon.toString(), sequence: 0n };
      const hold = { walletId: from, toAddress, ...amount, status, holdRequestId: names.ledgerRef };
      add(names, IntentKind.PLACE_HOLD, [], Hold.fromPartial(hold));
    },
    service: implement(LedgerServiceService, {
      post: (request) => post(double, decided, request),
      // An answer has room for a single entry.
      getEntries: ({ orgId, requestIds }) => {
        const [id, ...unansweredIds] = requestIds;
        return Promise.resolve({ requests: [requests.get(`${orgId}|${id}`) ?? []].flat(), unansweredIds });
      },
      getBalances: async ({ accountIds }) => {
        const refusal = double.refuseBalances();
        if (refusal) throw refusal;
        return { accounts: accountIds.flatMap((accountId) => accountOf(double, accountId)) };
      },
    }),
  };
  return double;
}

/** The decisions on closing and opening, by request id. */
type Decided = Map<string, DomainError | undefined>;

async function post(double: LedgerDouble, decided: Decided, request: PostRequest): Promise<PostResponse> {
  const { intent, requestId } = request;
  if (
    intent?.$case !== "openAccount" &&
    intent?.$case !== "closeAccount" &&
    intent?.$case !== "reopenAccount"
  )
    throw new Error("not asked for");
  const { walletId } = intent.value;
  double.asked.push(`${intent.$case} ${walletId}`);
  const refusal = await double.refuse(request);
  if (refusal) throw refusal;
  if (intent.$case === "openAccount") {
    if (intent.value.type === AccountType.UNSPECIFIED) throw new Error("an account needs a type");
    double.opened.add(walletId);
  } else {
    const decide = intent.$case === "closeAccount" ? close : reopen;
    if (!decided.has(requestId)) decided.set(requestId, decide(double, walletId));
    const lost = await double.loseAnswer();
    const refused = lost ?? decided.get(requestId);
    if (refused) throw refused;
  }
  return { entry: Entry.fromPartial({ entryId: "jrn_x", requestId, postedAt: new Date() }), replayed: false };
}

function reopen({ opened }: LedgerDouble, walletId: string): undefined {
  opened.add(walletId);
}

function close({ holdsMoney, opened }: LedgerDouble, walletId: string): DomainError | undefined {
  if (holdsMoney.has(walletId)) return new DomainError("WAL_003", null);
  return opened.delete(walletId) ? undefined : new DomainError("WAL_004");
}

function accountOf({ balances }: LedgerDouble, accountId: string): Account[] {
  const balance = balances.get(accountId);
  if (!balance) return [];
  const rest = { type: 0 as never, status: 0 as never, sequence: 0n, heldWon: "0", transferredTodayWon: "0" };
  return [{ ...rest, accountId, userId: undefined, openedAt: new Date(), closedAt: undefined, ...balance }];
}

function stateOf(
  requestId: string,
  kind: IntentKind,
  lines: [string, bigint][],
  hold: Hold | undefined,
): RequestState {
  const postings = lines.map(([accountId, amountWon], index) => ({
    accountId,
    amountWon: amountWon.toString(),
    sequence: BigInt(index + 1),
  }));
  const value = Entry.fromPartial({ requestId, kind, postedAt: new Date(), postings });
  return RequestState.fromPartial({
    requestId,
    outcome: { outcome: { $case: "posted", value } },
    ...(hold && { hold }),
  });
}
