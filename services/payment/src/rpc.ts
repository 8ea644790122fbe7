import { runInContext } from "@wonrail/kit/context";
import { invalidRequest } from "@wonrail/kit/errors";
import { fromErrorDetail, type GrpcService, implement, toErrorDetail } from "@wonrail/kit/grpc/server";
import { readPage } from "@wonrail/kit/page";
import {
  type ExecuteRequest,
  type ExecuteResponse,
  PaymentServiceService,
} from "@wonrail/proto/payment/v1/payment";
import { type App } from "./app";

const MAX_BULK = 1_000;

/** The way in by gRPC. What is not in this list answers UNIMPLEMENTED. */
export function rpc(app: App): GrpcService[] {
  return [
    implement(PaymentServiceService, {
      async execute(request) {
        const response = await app.execute(checked(request));
        if (response.outcome?.$case === "error" && !response.replayed)
          throw fromErrorDetail(response.outcome.value);
        return response;
      },
      async executeBulk({ items }) {
        if (items.length > MAX_BULK)
          throw invalidRequest([{ path: "items", message: `has more than ${MAX_BULK} entries` }]);
        return { items: await Promise.all(items.map((item) => executeItem(app, item))) };
      },
      getTransfer: async ({ orgId, transferId: id }) => ({ transfer: await app.getTransfer({ orgId, id }) }),
      getCharge: async ({ orgId, chargeId: id }) => ({ charge: await app.getCharge({ orgId, id }) }),
      getPayment: async ({ orgId, paymentId: id }) => ({ payment: await app.getPayment({ orgId, id }) }),
      async listTransfers(request) {
        const { items, info } = await app.getTransfers(listWanted(request));
        return { transfers: items, page: info };
      },
      async listCharges(request) {
        const { items, info } = await app.getCharges(listWanted(request));
        return { charges: items, page: info };
      },
      async listPayments(request) {
        const { items, info } = await app.getPayments(listWanted(request));
        return { payments: items, page: info };
      },
      listWalletTransactions: ({ orgId, walletId, types, from, to, page }) =>
        app.listWalletTransactions({ orgId, walletId, types, from, to, page }),
    }),
  ];
}

/** Each item is a request of its own: its own context, deadline and outcome. */
async function executeItem(app: App, item: ExecuteRequest): Promise<ExecuteResponse> {
  try {
    const { context } = checked(item);
    const { requestId, traceparent, orgId, deadline } = context!;
    const deadlineMs = deadline?.getTime();
    const own = { requestId, traceparent, orgId, ...(deadlineMs === undefined ? {} : { deadlineMs }) };
    return await runInContext(own, () => app.execute(item));
  } catch (error) {
    return { replayed: false, outcome: { $case: "error", value: toErrorDetail(error) } };
  }
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

function listWanted({
  orgId,
  walletId,
  page,
}: {
  orgId: string;
  walletId?: string | undefined;
  page?: Parameters<typeof readPage>[0];
}) {
  return { orgId, walletId: walletId ?? null, page: readPage(page) };
}
