import { implementAdmin, readLimit } from "@wonrail/kit/admin";
import { type DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { isId } from "@wonrail/kit/contract/ids";
import { formatWon } from "@wonrail/kit/contract/money";
import { type GrpcService, readOrgId } from "@wonrail/kit/grpc/server";
import { FreezeLevel, LedgerAdminServiceService } from "@wonrail/proto/ledger/v1/admin";
import { type App } from "./app";
import { accountMessage, entryMessage, lineMessage, requestStateMessage } from "./messages";
import { type Traffic } from "./store/traffic";

type AdminApp = Pick<
  App,
  | "getAccount"
  | "getBalanceHistory"
  | "getEntryDetails"
  | "getOrganisationBooks"
  | "getOverview"
  | "listHolds"
  | "listStatement"
  | "search"
>;

const MAX_DAYS = 92;
const REQUEST_ID = /^[a-z]{3}_[0-9a-f]{32}$/;

/** The operators' gRPC methods. The kit has checked the operator's role and reason. */
export function adminRpc(app: AdminApp): GrpcService {
  return implementAdmin(LedgerAdminServiceService, {
    async getAccount({ accountId }) {
      const account = await app.getAccount(readAccountId(accountId));
      return {
        orgId: account.orgId,
        account: accountMessage(account),
        frozenByChain: FreezeLevel[account.frozenByChain],
        frozenByOperator: FreezeLevel[account.frozenByOperator],
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
  });
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
