import { type AdminHandlers, implementAdmin, readLimit } from "@wonrail/kit/admin";
import { type DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { type Id, isId } from "@wonrail/kit/contract/ids";
import { formatWon } from "@wonrail/kit/contract/money";
import { type Database } from "@wonrail/kit/db";
import { enumName, type GrpcService, readOrgId } from "@wonrail/kit/grpc/server";
import {
  type FrozenWallet as FrozenMessage,
  LedgerAdminServiceService,
} from "@wonrail/proto/ledger/v1/admin";
import { Freeze as FreezeMessage } from "@wonrail/proto/ledger/v1/intents";
import { type App } from "./app";
import { type FrozenWallet } from "./commands/freezeWallet";
import { type Freeze } from "./domain/accountTypes";
import { accountMessage, entryMessage, lineMessage, requestStateMessage } from "./messages";
import { type Traffic } from "./store/traffic";

type AdminApp = Pick<
  App,
  | "freezeWallet"
  | "getAccount"
  | "getBalanceHistory"
  | "getEntryDetails"
  | "getOrganisationBooks"
  | "getOverview"
  | "listFrozenWallets"
  | "listHolds"
  | "listStatement"
  | "reenterLostEntries"
  | "search"
  | "unfreezeWallet"
>;

const MAX_DAYS = 92;
const REQUEST_ID = /^[a-z]{3}_[0-9a-f]{32}$/;

/** The operators' gRPC methods. The kit has checked the operator's role and reason. */
export function adminRpc(app: AdminApp, db: Database): GrpcService {
  const handlers: AdminHandlers<typeof LedgerAdminServiceService> = {
    async getAccount({ accountId }) {
      const account = await app.getAccount(readAccountId(accountId));
      return {
        orgId: account.orgId,
        account: accountMessage(account),
        frozenByChain: FreezeMessage[account.frozenByChain],
        frozenByOperator: FreezeMessage[account.frozenByOperator],
      };
    },

    async getBalanceHistory({ days, ...key }) {
      const history = await app.getBalanceHistory({
        ...readKey(key),
        days: readLimit(days, MAX_DAYS, "days"),
      });
      return { days: history.map(({ day, balanceWon }) => ({ day, balanceWon: formatWon(balanceWon) })) };
    },

    async getEntryDetails({ orgId, requestId }) {
      if (!REQUEST_ID.test(requestId))
        throw refusal("requestId", "must be three letters, _ and 32 hex digits");
      const wanted = { orgId: orgId === undefined ? undefined : readOrgId(orgId), requestId };
      const details = await app.getEntryDetails(wanted);
      if (!details) throw refusal("requestId", "the journal has no such request");
      const { request, postedBy, key, holdEndings, ...rest } = details;
      return {
        ...rest,
        request: requestStateMessage(request),
        postedBy: postedBy ?? undefined,
        key: key ?? undefined,
        holdEndings: holdEndings.map((entry) => entryMessage({ ...entry, original: null })),
      };
    },

    async getOrganisationBooks({ orgId, days }) {
      const wanted = { orgId: readOrgId(orgId), days: readLimit(days, MAX_DAYS, "days") };
      const { accounts, walletsWon, ...rest } = await app.getOrganisationBooks(wanted);
      return { ...rest, accounts: accounts.map(accountMessage), walletsWon: formatWon(walletsWon) };
    },

    async getOverview() {
      const { countedUntil, minute, hour, day, minutes, verifications } = await app.getOverview();
      return {
        countedUntil: countedUntil ?? undefined,
        minute: trafficMessage(minute),
        hour: trafficMessage(hour),
        day: trafficMessage(day),
        minutes: minutes.map(({ movedWon, ...rest }) => ({ ...rest, movedWon: formatWon(movedWon) })),
        verifications,
      };
    },

    async listAccountHolds({ limit, ...key }) {
      const holds = await app.listHolds({ ...readKey(key), limit: readLimit(limit) });
      return {
        holds: holds.map(({ requestId, amountWon, ...rest }) => ({
          ...rest,
          holdRequestId: requestId,
          amountWon: formatWon(amountWon),
        })),
      };
    },

    async listAccountLines({ page, ...key }) {
      const query = { ...readKey(key), types: [], fromMs: null, toMs: null, page };
      const { lines, info } = await app.listStatement(query);
      return { lines: lines.map(lineMessage), page: info };
    },

    async search({ text }) {
      return { hits: await app.search(text.trim()) };
    },

    async listFrozenWallets({ orgId, walletId, afterWalletId, limit }) {
      const wallets = await app.listFrozenWallets({
        orgId: orgId === undefined ? null : readOrgId(orgId),
        walletId: walletId === undefined ? null : readWalletId(walletId, "walletId"),
        afterWalletId: afterWalletId === undefined ? null : readWalletId(afterWalletId, "afterWalletId"),
        limit: readLimit(limit),
      });
      return { wallets: wallets.map(frozenMessage) };
    },

    async freezeWallet({ orgId, walletId, freeze }, { operator }) {
      const wanted = {
        ...keyOf({ orgId, walletId }),
        freeze: readFreeze(freeze, "freeze", ["OUTGOING", "ALL"]),
      };
      return { wallet: frozenMessage(await app.freezeWallet(wanted, operator)) };
    },

    async unfreezeWallet({ orgId, walletId, remaining }, { operator }) {
      const freeze = readFreeze(remaining, "remaining", ["NONE", "OUTGOING"]);
      await app.unfreezeWallet({ ...keyOf({ orgId, walletId }), freeze }, operator);
      return {};
    },

    async reenterLostEntries(_request, { operator }) {
      const reentered = await app.reenterLostEntries(operator);
      if (!reentered) throw refusal("kafka", "the ledger runs without Kafka, which alone keeps lost entries");
      return { ...reentered, entries: BigInt(reentered.entries), known: BigInt(reentered.known) };
    },
  };
  return implementAdmin(LedgerAdminServiceService, handlers, db);
}

function trafficMessage({ entries, movedWon, seconds }: Traffic) {
  const entriesPerSecond = seconds === 0 ? 0 : Number(entries) / seconds;
  return { entries, movedWon: formatWon(movedWon), entriesPerSecond };
}

function readKey({ orgId, accountId }: { orgId: string; accountId: string }) {
  return { orgId: readOrgId(orgId), accountId: readAccountId(accountId) };
}

function readAccountId(id: string): string {
  if (!isId("wal", id) && !isId("acc", id)) throw refusal("accountId", "must be an account's id");
  return id;
}

function refusal(path: string, message: string): DomainError {
  return invalidRequest([{ path, message }]);
}

function keyOf({ orgId, walletId }: { orgId: string; walletId: string }) {
  return { orgId: readOrgId(orgId), walletId: readWalletId(walletId, "walletId") };
}

function readWalletId(text: string, path: string): Id<"wal"> {
  if (isId("wal", text)) return text;
  throw invalidRequest([{ path, message: "must be a wallet's id" }]);
}

function readFreeze(value: FreezeMessage, path: string, allowed: Freeze[]): Freeze {
  const name = enumName(FreezeMessage, value);
  if (name !== undefined && allowed.includes(name)) return name;
  throw invalidRequest([{ path, message: `must be ${allowed.join(" or ")}` }]);
}

function frozenMessage({ byChain, byOperator, ...key }: FrozenWallet): FrozenMessage {
  return { ...key, byChain: FreezeMessage[byChain], byOperator: FreezeMessage[byOperator] };
}
