import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import {
  enumName,
  enumValue,
  implement,
  readAtMost,
  readOrgId,
  toErrorDetail,
  type GrpcService,
  type ServerCall,
} from "@wonrail/kit/grpc/server";
import { isId } from "@wonrail/kit/contract/ids";
import { inOrder } from "@wonrail/kit/inOrder";
import { TransactionType } from "@wonrail/proto/ledger/v1/intents";
import {
  LedgerServiceService,
  RequestPlace,
  type PostOutcome,
  type PostRequest,
  type PostStreamRequest,
  type PostStreamResponse,
} from "@wonrail/proto/ledger/v1/ledger";
import { type App } from "./app";
import { mayPost } from "./domain/posters";
import type { TransactionType as Type } from "./domain/types";
import {
  accountMessage,
  entryMessage,
  lineMessage,
  outcomeMessage,
  postedMessage,
  totalsMessage,
} from "./messages";

const MAX_ITEMS = 1_000;
const MAX_IN_FLIGHT = 1_000;
const UUID_PART = /^[a-z]{3}_[0-9a-f]{32}$/;

/** The way in by gRPC: reads the request, asks the app, writes the answer. */
export function rpc(app: App): GrpcService[] {
  return [
    implement(LedgerServiceService, {
      async post(request, call) {
        forCaller(request, call);
        const outcome = await app.post(request, call.context.deadlineMs ?? Infinity);
        if (outcome.status === "refused") throw new DomainError(outcome.code, outcome.details);
        return postedMessage(outcome.entry);
      },

      async postBulk({ items }, call) {
        return { outcomes: await postAll(app, readAtMost(MAX_ITEMS, items, "items"), call) };
      },

      postStream(requests: AsyncIterable<PostStreamRequest>, call): AsyncIterable<PostStreamResponse> {
        return inOrder(requests, MAX_IN_FLIGHT, async ({ item }) => {
          const [outcome] = await postAll(app, item ? [item] : [], call);
          return { requestId: item?.requestId ?? "", outcome };
        });
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

      async getEntry({ orgId, id }) {
        if (!UUID_PART.test(id)) throw new DomainError("TX_001", null);
        return { entry: entryMessage(await app.getEntry(readOrgId(orgId), id)) };
      },

      async getEntries({ orgId, requestIds }) {
        const wanted = readAtMost(MAX_ITEMS, requestIds, "requestIds").filter((id) => UUID_PART.test(id));
        return { entries: (await app.getEntries(readOrgId(orgId), wanted)).map(entryMessage) };
      },

      async findRequest({ orgId, requestId }) {
        if (!UUID_PART.test(requestId)) throw bad("requestId", "must be an id");
        const place = await app.findRequest(readOrgId(orgId), requestId);
        return { place: enumValue(RequestPlace, place) };
      },

      async getTotals({ orgId }) {
        return totalsMessage(await app.getTotals(readOrgId(orgId)));
      },
    }),
  ];
}

/** Each item as if it had come alone. Their own contexts are for events and logs only, so none of them is entered for it. */
function postAll(app: App, items: PostRequest[], call: ServerCall): Promise<PostOutcome[]> {
  const deadlineMs = call.context.deadlineMs ?? Infinity;
  const one = async (item: PostRequest) => app.post(forCaller(item, call), deadlineMs);
  return Promise.all(items.map((item) => one(item).then(outcomeMessage, errorMessage)));
}

function forCaller(request: PostRequest, { caller }: ServerCall): PostRequest {
  if (request.intent && !mayPost(caller, request.intent.$case)) throw bad("intent", "is not this caller's");
  return request;
}

function errorMessage(error: unknown): PostOutcome {
  return { outcome: { $case: "error", value: toErrorDetail(error) } };
}

function isAccountId(id: string): boolean {
  return isId("wal", id) || isId("acc", id);
}

function typeOf(type: TransactionType): Type {
  const name = enumName(TransactionType, type);
  if (name === undefined) throw bad("types", "has a type that this release does not know");
  return name;
}

function bad(path: string, message: string): DomainError {
  return invalidRequest([{ path, message }]);
}
