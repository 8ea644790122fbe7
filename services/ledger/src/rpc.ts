import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import {
  enumName,
  implement,
  readAtMost,
  readOrgId,
  readSandboxClock,
  toErrorDetail,
  type GrpcService,
  type Handlers,
  type ServerCall,
} from "@wonrail/kit/grpc/server";
import { isId } from "@wonrail/kit/contract/ids";
import { parseWon } from "@wonrail/kit/contract/money";
import { MAX_INT64 } from "@wonrail/kit/maxInt64";
import { type EntryRange as EntryRangeMessage } from "@wonrail/proto/common/v1/common";
import { TransactionType } from "@wonrail/proto/ledger/v1/intents";
import { LedgerServiceService, type PostOutcome, type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { type App } from "./app";
import { mayPost } from "./intents";
import { placeText } from "./queries/listLines";
import { type EntryRange } from "./queries/readStatement";
import type { Answer } from "./intents/decide";
import type { TransactionType as Type } from "./domain/types";
import {
  accountMessage,
  entryMessage,
  journalMessage,
  lineMessage,
  outcomeMessage,
  togetherMessage,
  requestStateMessage,
  totalsMessage,
} from "./messages";

const MAX_ITEMS = 1_000;
const MAX_TOGETHER = 10_000;
const MAX_ENTRIES = 500;
const UUID_PART = /^[a-z]{3}_[0-9a-f]{32}$/;

/** The gRPC interface: reads the request, calls the app, writes the answer. */
export function rpc(app: App): GrpcService[] {
  return [
    implement(LedgerServiceService, {
      async post(request, call) {
        const { outcome, replayed } = await postOne(app, request, call);
        if (outcome.status === "refused") throw new DomainError(outcome.code, outcome.details);
        return { entry: entryMessage(outcome.entry), replayed };
      },

      async postBulk({ items }, call) {
        return { outcomes: await postAll(app, readAtMost(MAX_ITEMS, items, "items"), call) };
      },

      async postTogether({ items, dryRun }, { caller }) {
        readAtMost(MAX_TOGETHER, items, "items");
        const orgIds = new Set(items.map(({ context }) => context?.orgId));
        if (orgIds.size !== 1) throw bad("items", "must be of one organisation");
        for (const { intent } of items) {
          if (intent?.$case !== "transfer" && intent?.$case !== "placeHold")
            throw bad("intent", "must be a transfer or a hold");
          if (!mayPost(caller, intent.$case)) throw bad("intent", "is not this caller's");
        }
        const answers = await app.postTogether(items, dryRun, caller ?? null);
        return { outcomes: answers.map(togetherMessage) };
      },

      async findByKey({ orgId, scope, key }) {
        const found = await app.findByKey(readOrgId(orgId), { scope, key });
        if (!found) return { outcome: undefined, bodyHash: Buffer.alloc(0) };
        return { outcome: outcomeMessage(found.outcome), bodyHash: Buffer.from(found.bodyHash, "hex") };
      },

      async getBalances({ orgId, accountIds }) {
        const wanted = readAtMost(MAX_ITEMS, accountIds, "accountIds").filter(isAccountId);
        return { accounts: (await app.getBalances(readOrgId(orgId), wanted)).map(accountMessage) };
      },

      async listAccounts({ orgId, afterAccountId, limit }) {
        if (afterAccountId !== undefined && !isAccountId(afterAccountId))
          throw bad("afterAccountId", "must be an account's id");
        if (limit < 1 || limit > MAX_ITEMS) throw bad("limit", `must be from 1 to ${MAX_ITEMS}`);
        return {
          accounts: (await app.listAccounts(readOrgId(orgId), afterAccountId ?? null, limit)).map(
            accountMessage,
          ),
        };
      },

      async listStatement({ orgId, accountId, types, from, to, page }) {
        if (!isAccountId(accountId)) throw new DomainError("WAL_002", { walletId: accountId });
        const { lines, info } = await app.listStatement({
          orgId: readOrgId(orgId),
          accountId,
          types: types.map(typeOf),
          fromMs: from?.getTime() ?? null,
          toMs: to?.getTime() ?? null,
          page,
        });
        return { lines: lines.map(lineMessage), page: info };
      },

      async listLines({ orgId, types, from, to, minAmountWon, maxAmountWon, ...rest }) {
        if (rest.limit < 1 || rest.limit > MAX_ITEMS) throw bad("limit", `must be from 1 to ${MAX_ITEMS}`);
        const { lines, nextAfter } = await app.listLines({
          ...{ orgId: readOrgId(orgId), types: types.map(typeOf), reference: rest.reference ?? null },
          ...{ fromMs: from?.getTime() ?? null, toMs: to?.getTime() ?? null },
          minWon: minAmountWon === undefined ? null : parseWon(minAmountWon, "minAmount"),
          maxWon: maxAmountWon === undefined ? null : parseWon(maxAmountWon, "maxAmount"),
          ...{ oldestFirst: rest.oldestFirst, after: rest.after ?? null, limit: rest.limit },
        });
        return {
          lines: lines.map(({ line, place }) => ({ line: lineMessage(line), place: placeText(place) })),
          nextAfter: nextAfter ?? undefined,
        };
      },

      async readStatement({ orgId, accountId, from, to, entries, afterSequence, limit }) {
        if (!isAccountId(accountId)) throw new DomainError("WAL_002", { walletId: accountId });
        if (limit < 1 || limit > MAX_ITEMS) throw bad("limit", `must be from 1 to ${MAX_ITEMS}`);
        if (!from || !to || from > to) throw bad("from", "must be given with to, and not be after it");
        if (afterSequence === MAX_INT64) throw bad("afterSequence", "is too large");
        const page = await app.readStatement({
          ...{ orgId: readOrgId(orgId), accountId, fromMs: from.getTime(), toMs: to.getTime(), limit },
          ...{ entries: entries ? readRange(entries) : null, after: afterSequence ?? null },
        });
        return {
          lines: page.lines.map(lineMessage),
          openingBalanceWon: page.openingWon.toString(),
          closingBalanceWon: page.closingWon.toString(),
          entries: { firstSequence: page.entries.first, endSequence: page.entries.end },
          nextAfterSequence: page.hasMore ? page.lines.at(-1)!.posting.sequence : undefined,
        };
      },

      async getBalanceAt({ orgId, accountId, at }) {
        if (!isAccountId(accountId)) throw new DomainError("WAL_002", { walletId: accountId });
        if (!at) throw bad("at", "is required");
        const wanted = { orgId: readOrgId(orgId), accountId, atMs: at.getTime() };
        return { balanceWon: (await app.getBalanceAt(wanted)).toString() };
      },

      async getEntries({ orgId, requestIds }) {
        const wanted = readAtMost(MAX_ITEMS, requestIds, "requestIds").filter((id) => UUID_PART.test(id));
        const { requests, unanswered } = await app.getEntries(readOrgId(orgId), wanted);
        return { requests: requests.map(requestStateMessage), unansweredIds: unanswered };
      },

      async listJournal({ orgId, afterSequence, limit }) {
        if (limit < 1 || limit > MAX_ENTRIES) throw bad("limit", `must be from 1 to ${MAX_ENTRIES}`);
        const { entries, lastSequence } = await app.listJournal(readOrgId(orgId), afterSequence, limit);
        return { entries: entries.map(journalMessage), lastSequence };
      },

      async listJournalHeads({ afterOrgId, limit }) {
        if (limit < 1 || limit > MAX_ITEMS) throw bad("limit", `must be from 1 to ${MAX_ITEMS}`);
        const after = afterOrgId === undefined ? null : readOrgId(afterOrgId, "afterOrgId");
        return { heads: await app.listJournalHeads(after, limit) };
      },

      async getTotals({ orgId }) {
        return totalsMessage(await app.getTotals(readOrgId(orgId)));
      },

      ...sandboxHandlers(app),
    }),
  ];
}

/** None on a main network, where the method is UNIMPLEMENTED. */
function sandboxHandlers({ sandbox }: App): Pick<Handlers<typeof LedgerServiceService>, "setSandboxClock"> {
  if (!sandbox) return {};
  return {
    async setSandboxClock(request) {
      await sandbox.setClock(readSandboxClock(request));
      return {};
    },
  };
}

/**
 * Treats each item like a single call. Items' contexts are for events and logs only, so the batch
 * enters none.
 */
function postAll(app: App, items: PostRequest[], call: ServerCall): Promise<PostOutcome[]> {
  return Promise.all(
    items.map((item) =>
      postOne(app, item, call).then(
        ({ outcome, replayed }) => outcomeMessage(outcome, replayed),
        errorMessage,
      ),
    ),
  );
}

async function postOne(app: App, request: PostRequest, { caller, context }: ServerCall): Promise<Answer> {
  if (request.intent && !mayPost(caller, request.intent.$case)) throw bad("intent", "is not this caller's");
  return app.post(request, context.deadlineMs ?? Infinity, caller ?? null);
}

function errorMessage(error: unknown): PostOutcome {
  return { outcome: { $case: "error", value: toErrorDetail(error) }, replayed: false };
}

function isAccountId(id: string): boolean {
  return isId("wal", id) || isId("acc", id);
}

function readRange({ firstSequence, endSequence }: EntryRangeMessage): EntryRange {
  if (firstSequence > endSequence) throw bad("entries", "is no range");
  return { first: firstSequence, end: endSequence };
}

function typeOf(type: TransactionType): Type {
  const name = enumName(TransactionType, type);
  if (name === undefined) throw bad("types", "has a type that this release does not know");
  return name;
}

function bad(path: string, message: string): DomainError {
  return invalidRequest([{ path, message }]);
}
