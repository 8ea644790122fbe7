import { invalidRequest } from "@wonrail/kit/errors";
import {
  fromErrorDetail,
  type GrpcService,
  implement,
  type ItemAnswer,
  serveItems,
} from "@wonrail/kit/grpc/server";
import { type IdPrefix, isId } from "@wonrail/kit/ids";
import { type Log } from "@wonrail/kit/log";
import { readPage } from "@wonrail/kit/page";
import {
  type ExecuteRequest,
  type ExecuteResponse,
  PaymentServiceService,
} from "@wonrail/proto/payment/v1/payment";
import { type App } from "./app";

const MAX_BULK = 1_000;

/** The way in by gRPC. What is not in this list answers UNIMPLEMENTED. */
export function rpc(app: App, log: Log): GrpcService[] {
  return [
    implement(PaymentServiceService, {
      async execute(request) {
        const response = await app.execute(checked(request));
        if (response.outcome?.$case === "error" && !response.replayed)
          throw fromErrorDetail(response.outcome.value);
        return response;
      },
      async executeBulk({ items }, call) {
        if (items.length > MAX_BULK)
          throw invalidRequest([{ path: "items", message: `has more than ${MAX_BULK} entries` }]);
        const answers = await serveItems(items, call, {
          contextOf: ({ context }) => context,
          work: async (item) => app.execute(checked(item)),
          log,
        });
        return { items: answers.map(toResponse) };
      },
      getTransfer: async ({ orgId, transferId: id }) => ({ transfer: await app.getTransfer({ orgId, id }) }),
      getCharge: async ({ orgId, chargeId: id }) => ({ charge: await app.getCharge({ orgId, id }) }),
      getPayment: async ({ orgId, paymentId: id }) => ({ payment: await app.getPayment({ orgId, id }) }),
      async listTransfers(request) {
        const { items, info } = await app.listTransfers(listWanted("trf", request));
        return { transfers: items, page: info };
      },
      async listCharges(request) {
        const { items, info } = await app.listCharges(listWanted("chg", request));
        return { charges: items, page: info };
      },
      async listPayments(request) {
        const { items, info } = await app.listPayments(listWanted("pay", request));
        return { payments: items, page: info };
      },
      listWalletTransactions: ({ orgId, walletId, types, from, to, page }) =>
        app.listWalletTransactions({ orgId, walletId, types, from, to, page }),
    }),
  ];
}

function toResponse(answer: ItemAnswer<ExecuteResponse>): ExecuteResponse {
  if ("value" in answer) return answer.value;
  return { replayed: false, outcome: { $case: "error", value: answer.error } };
}

function checked(request: ExecuteRequest): ExecuteRequest {
  if (!request.context?.orgId) throw invalidRequest([{ path: "context.org_id", message: "is required" }]);
  if (!request.command) throw invalidRequest([{ path: "command", message: "is required" }]);
  if (request.bodyHash.length !== 32)
    throw invalidRequest([{ path: "body_hash", message: "must be 32 bytes" }]);
  if (request.idempotencyKey !== undefined && !/^[\x20-\x7e]{1,255}$/.test(request.idempotencyKey)) {
    throw invalidRequest([
      { path: "idempotency_key", message: "must be 1 to 255 printable ASCII characters" },
    ]);
  }
  return request;
}

function listWanted(prefix: IdPrefix, { orgId, walletId, page }: ListRequest) {
  return { orgId, walletId: walletId ?? null, page: readPage(page, (key) => isId(prefix, key)) };
}

interface ListRequest {
  orgId: string;
  walletId?: string | undefined;
  page?: Parameters<typeof readPage>[0];
}
