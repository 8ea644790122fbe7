import { invalidRequest } from "@wonrail/kit/contract/errors";
import {
  fromErrorDetail,
  type GrpcService,
  implement,
  type ItemAnswer,
  readAtMost,
  readBodyHash,
  readIdempotencyKey,
  readOrgId,
  serveItems,
} from "@wonrail/kit/grpc/server";
import { type IdPrefix, isId } from "@wonrail/kit/contract/ids";
import { type Log } from "@wonrail/kit/log";
import { readPage } from "@wonrail/kit/page";
import {
  type ExecuteRequest,
  type ExecuteResponse,
  PaymentServiceService,
} from "@wonrail/proto/payment/v1/payment";
import { type App } from "./app";

const MAX_BULK = 1_000;

/** The way in by gRPC. */
export function rpc(app: App, log: Log): GrpcService[] {
  return [
    implement(PaymentServiceService, {
      async execute(request) {
        const response = await app.execute(readExecute(request));
        if (response.outcome?.$case === "error" && !response.replayed)
          throw fromErrorDetail(response.outcome.value);
        return response;
      },
      async executeBulk({ items }, call) {
        const answers = await serveItems(readAtMost(MAX_BULK, items, "items"), call, {
          contextOf: ({ context }) => context,
          work: async (item) => app.execute(readExecute(item)),
          log,
        });
        return { items: answers.map(executeResponse) };
      },
      getTransfer: async ({ orgId, transferId }) => ({
        transfer: await app.getTransfer(keyOf(orgId, transferId)),
      }),
      getCharge: async ({ orgId, chargeId }) => app.getCharge(keyOf(orgId, chargeId)),
      getRefund: async ({ orgId, refundId }) => ({ refund: await app.getRefund(keyOf(orgId, refundId)) }),
      getPayment: async ({ orgId, paymentId }) => app.getPayment(keyOf(orgId, paymentId)),
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
      listWalletTransactions: async ({ orgId, walletId, types, from, to, page }) =>
        app.listWalletTransactions({ orgId: readOrgId(orgId), walletId, types, from, to, page }),
    }),
  ];
}

function executeResponse(answer: ItemAnswer<ExecuteResponse>): ExecuteResponse {
  if ("value" in answer) return answer.value;
  return { replayed: false, outcome: { $case: "error", value: answer.error } };
}

function readExecute(request: ExecuteRequest): ExecuteRequest {
  readOrgId(request.context?.orgId, "context.orgId");
  if (!request.command) throw invalidRequest([{ path: "command", message: "is required" }]);
  readBodyHash(request.bodyHash);
  if (request.idempotencyKey !== undefined) readIdempotencyKey(request.idempotencyKey);
  return request;
}

function keyOf(orgId: string, id: string) {
  return { orgId: readOrgId(orgId), id };
}

function listWanted(prefix: IdPrefix, { orgId, walletId, page }: ListRequest) {
  return {
    orgId: readOrgId(orgId),
    walletId: walletId ?? null,
    page: readPage(page, (key) => isId(prefix, key)),
  };
}

interface ListRequest {
  orgId: string;
  walletId?: string | undefined;
  page?: Parameters<typeof readPage>[0];
}
