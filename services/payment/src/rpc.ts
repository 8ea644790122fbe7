import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import {
  enumFilter,
  fromErrorDetail,
  type GrpcService,
  type Handlers,
  implement,
  type ItemAnswer,
  readAtMost,
  readBodyHash,
  readIdempotencyKey,
  readOrgId,
  readSandboxClock,
  serveItems,
} from "@wonrail/kit/grpc/server";
import { firstIdAt, type IdPrefix, isId } from "@wonrail/kit/contract/ids";
import { parseWon } from "@wonrail/kit/contract/money";
import { type Log } from "@wonrail/kit/log";
import { readPage } from "@wonrail/kit/page";
import { type PageRequest } from "@wonrail/proto/common/v1/common";
import {
  ChargeStatus,
  type ExecuteRequest,
  type ExecuteResponse,
  type ListFilter,
  PaymentServiceService,
  PayoutRowStatus,
  PayoutStatus,
  PaymentStatus,
  SettlementStatus,
  TransferStatus,
} from "@wonrail/proto/payment/v1/payment";
import { type App } from "./app";
import { ROW_INDEX } from "./queries/getPayout";

const MAX_BULK = 1_000;
/** The ledger's places of lines are the cursors of ListTransactions. */
const LINE_PLACE = /^[1-9][0-9]{0,17}\.[0-9]{1,7}$/;

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
      updateMetadata: async ({ orgId, id, set, remove }) =>
        app.updateMetadata({ ...keyOf(orgId, id), set, remove }),
      async listTransfers(request) {
        const status = enumFilter(TransferStatus, request.status ?? TransferStatus.UNSPECIFIED, "status");
        const { items, info } = await app.listTransfers({ ...readList("trf", request), status });
        return { transfers: items, page: info };
      },
      async listCharges(request) {
        const status = enumFilter(ChargeStatus, request.status ?? ChargeStatus.UNSPECIFIED, "status");
        const { items, info } = await app.listCharges({ ...readList("chg", request), status });
        return { charges: items, page: info };
      },
      async listRefunds(request) {
        const { items, info } = await app.listRefunds(readList("rfd", request));
        return { refunds: items, page: info };
      },
      async listPayments(request) {
        const status = enumFilter(PaymentStatus, request.status ?? PaymentStatus.UNSPECIFIED, "status");
        const { items, info } = await app.listPayments({ ...readList("pay", request), status });
        return { payments: items, page: info };
      },
      listTransactions: async ({ orgId, types, status, filter, page }) =>
        app.listTransactions({
          ...{ orgId: readOrgId(orgId), types, status, filter },
          page: readPage(page, (key) => LINE_PLACE.test(key)),
        }),
      getBalanceAt: async ({ orgId, walletId, at }) =>
        app.getBalanceAt({ orgId: readOrgId(orgId), walletId, at }),
      readStatement: async (request) => {
        readOrgId(request.orgId);
        return app.readStatement(request);
      },
      createPayout: async (request) => {
        readOrgId(request.orgId);
        if (request.idempotencyKey !== undefined) {
          readIdempotencyKey(request.idempotencyKey);
          readBodyHash(request.bodyHash);
        }
        return app.createPayout(request);
      },
      getPayout: async ({ orgId, payoutId }) => ({
        payout: await app.getPayout(payoutKeyOf(orgId, payoutId)),
      }),
      async listPayouts({ orgId, status = PayoutStatus.UNSPECIFIED, page }) {
        const { items, info } = await app.listPayouts({
          ...{ orgId: readOrgId(orgId), status: enumFilter(PayoutStatus, status, "status") },
          page: readPage(page, (key) => isId("pyo", key)),
        });
        return { payouts: items, page: info };
      },
      async listPayoutRows({ orgId, payoutId, status = PayoutRowStatus.UNSPECIFIED, page }) {
        const { items, info } = await app.listPayoutRows({
          ...payoutKeyOf(orgId, payoutId),
          status: enumFilter(PayoutRowStatus, status, "status"),
          page: readPage(page, (key) => ROW_INDEX.test(key)),
        });
        return { rows: items, page: info };
      },
      listWalletTransactions: async ({ orgId, walletId, types, from, to, page }) =>
        app.listWalletTransactions({ orgId: readOrgId(orgId), walletId, types, from, to, page }),
      ...sandboxHandlers(app),
    }),
  ];
}

/** None on a main network, where the method is UNIMPLEMENTED. */
function sandboxHandlers({ sandbox }: App): Pick<Handlers<typeof PaymentServiceService>, "setSandboxClock"> {
  if (!sandbox) return {};
  return {
    async setSandboxClock(request) {
      await sandbox.setClock(readSandboxClock(request));
      return {};
    },
  };
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

function payoutKeyOf(orgId: string, payoutId: string) {
  if (!isId("pyo", payoutId)) throw new DomainError("PYO_001");
  return { orgId: readOrgId(orgId), payoutId };
}

interface ListRequest {
  orgId: string;
  walletId?: string | undefined;
  filter?: ListFilter | undefined;
  page?: PageRequest | undefined;
}

function readList(prefix: IdPrefix, { orgId, walletId, filter, page }: ListRequest) {
  const { reference, settlementStatus = SettlementStatus.UNSPECIFIED, from, to } = filter ?? {};
  return {
    orgId: readOrgId(orgId),
    walletId: walletId ?? null,
    filter: {
      reference,
      settlementStatus: enumFilter(SettlementStatus, settlementStatus, "settlementStatus"),
      fromId: from && firstIdAt(prefix, from),
      beforeId: to && firstIdAt(prefix, to),
      minWon: readWon(filter?.minAmountWon, "minAmount"),
      maxWon: readWon(filter?.maxAmountWon, "maxAmount"),
    },
    page: readPage(page, (key) => isId(prefix, key)),
  };
}

function readWon(amountWon: string | undefined, path: string): bigint | undefined {
  return amountWon === undefined ? undefined : parseWon(amountWon, path);
}
