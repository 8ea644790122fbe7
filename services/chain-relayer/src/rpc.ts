import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import {
  enumFilter,
  enumName,
  enumValue,
  type GrpcService,
  type Handlers,
  implement,
  readAtMost,
  readBodyHash,
  readIdempotencyKey,
  readOrgId,
  readSandboxClock,
} from "@wonrail/kit/grpc/server";
import { readAddress } from "@wonrail/kit/contract/address";
import { isId } from "@wonrail/kit/contract/ids";
import { parseWon } from "@wonrail/kit/contract/money";
import { readPage } from "@wonrail/kit/page";
import {
  type CreateRecordRequest,
  OperationStatus,
  PaymentType,
  RecordStatus,
  RelayerServiceService,
  SandboxOrder,
  type X402Payment,
} from "@wonrail/proto/relayer/v1/relayer";
import { type App } from "./app";
import { isUnits, recordMessage, type RequestKey } from "./records";
import { settlementMessage } from "./settlement";
import { type PaymentRequest } from "./x402";

const MAX_REFS = 1_000;
const MAX_SETTLEMENTS = 1_000;
const MAX_WAIT_MS = 30_000;

/**
 * The gRPC interface: the recording API, and the state of operations. Missing methods answer
 * UNIMPLEMENTED.
 */
export function rpc(app: App): GrpcService[] {
  return [
    implement(RelayerServiceService, {
      async createRecord({ orgId, fields, repeatOnly = false, ...given }) {
        const paymentType = enumName(PaymentType, fields?.paymentType ?? PaymentType.UNSPECIFIED);
        if (!fields || !paymentType)
          throw invalidRequest([{ path: "paymentType", message: "must be INSTANT or SCHEDULED" }]);
        const wanted = {
          orgId: readOrgId(orgId),
          paymentType,
          fields,
          key: requestKey(given),
          repeatOnly,
        };
        const { record, replayed } = await app.createRecord(wanted);
        return { record: recordMessage(record, []), replayed };
      },
      async getRecord({ orgId, id }) {
        const { record, history } = await app.getRecord(keyOf(orgId, id));
        return { record: recordMessage(record, history) };
      },
      async listRecords({ orgId, status, paymentType, address, from, to, page, ...filter }) {
        const { items, info } = await app.listRecords({
          orgId: readOrgId(orgId),
          status: enumFilter(RecordStatus, status, "status") ?? null,
          paymentType: enumFilter(PaymentType, paymentType, "paymentType") ?? null,
          address: address ?? null,
          from: from ?? null,
          to: to ?? null,
          reference: filter.reference,
          minAmount: readUnits(filter.minAmount, "minAmount"),
          maxAmount: readUnits(filter.maxAmount, "maxAmount"),
          page: readPage(page, (key) => isId("txn", key)),
        });
        return { records: items.map((record) => recordMessage(record, [])), page: info };
      },
      async updateRecordStatus({ orgId, id, status, failureReason }) {
        const wanted = enumName(RecordStatus, status);
        if (!wanted)
          throw invalidRequest([{ path: "status", message: "must be PENDING, CONFIRMED or FAILED" }]);
        const change = { ...keyOf(orgId, id), status: wanted, failureReason };
        return { record: recordMessage(await app.updateRecordStatus(change), []) };
      },
      async updateRecordSchedule({ orgId, id, scheduledAt }) {
        if (!scheduledAt) throw invalidRequest([{ path: "scheduledAt", message: "is required" }]);
        return {
          record: recordMessage(await app.updateRecordSchedule({ ...keyOf(orgId, id), scheduledAt }), []),
        };
      },
      async updateRecordMetadata({ orgId, id, set, remove }) {
        const record = await app.updateRecordMetadata({ ...keyOf(orgId, id), set, remove });
        return { record: recordMessage(record, []) };
      },
      async getOperations({ refs }) {
        const found = await app.getOperations(readAtMost(MAX_REFS, refs, "refs"));
        return {
          operations: found.map(({ orgId, ledgerRef, status }) => ({
            ref: { orgId, ledgerRef },
            status: enumValue(OperationStatus, status),
          })),
        };
      },
      async listSettlements({ orgId, afterLedgerRef, limit }) {
        if (limit < 1 || limit > MAX_SETTLEMENTS)
          throw invalidRequest([{ path: "limit", message: `must be 1 to ${MAX_SETTLEMENTS}` }]);
        const wanted = { orgId: readOrgId(orgId), afterRef: afterLedgerRef ?? "", limit };
        return { settlements: (await app.listSettlements(wanted)).map(settlementMessage) };
      },
      getX402Support: async () => {
        const { name, version, ...support } = await app.getX402Support();
        return { ...support, tokenName: name, tokenVersion: version };
      },
      async verifyX402Payment({ orgId, payment }) {
        const refusal = await app.verifyX402Payment({
          orgId: readOrgId(orgId),
          payment: readX402Payment(payment),
        });
        return { refusal: refusal ?? undefined };
      },
      async settleX402Payment({ orgId, payment, waitMs }) {
        const wanted = {
          ...{ orgId: readOrgId(orgId), payment: readX402Payment(payment) },
          waitMs: readWait(waitMs),
        };
        const { refusal, txHash } = await app.settleX402Payment(wanted);
        return { refusal: refusal ?? undefined, txHash: txHash ?? undefined };
      },
      ...sandboxHandlers(app),
    }),
  ];
}

type SandboxMethods = "setSandboxClock" | "orderSandboxSettlement" | "createSandboxDeposit";

/** None on a main network, where the methods are UNIMPLEMENTED. */
function sandboxHandlers({ sandbox }: App): Pick<Handlers<typeof RelayerServiceService>, SandboxMethods> {
  if (!sandbox) return {};
  return {
    async setSandboxClock(request) {
      await sandbox.setClock(readSandboxClock(request));
      return {};
    },
    async orderSandboxSettlement({ orgId, id: ledgerRef, order }) {
      const wanted = enumName(SandboxOrder, order);
      if (!wanted) throw invalidRequest([{ path: "order", message: "must be HOLD, FAIL or RELEASE" }]);
      return { state: await sandbox.orderSettlement({ orgId: readOrgId(orgId), ledgerRef, order: wanted }) };
    },
    async createSandboxDeposit({ orgId, toAddress: address, amountWon, idempotencyKey, waitMs }) {
      const toAddress = readAddress(address);
      if (toAddress === null) throw invalidRequest([{ path: "toAddress", message: "must be an address" }]);
      const { txHash, ...deposit } = await sandbox.depositFromFaucet({
        orgId: readOrgId(orgId),
        toAddress,
        amountWon: parseWon(amountWon, "amount"),
        idempotencyKey: idempotencyKey === undefined ? null : readIdempotencyKey(idempotencyKey),
        waitMs: readWait(waitMs),
      });
      return { ...deposit, txHash: txHash ?? undefined };
    },
  };
}

function readWait(waitMs: number): number {
  if (waitMs > MAX_WAIT_MS)
    throw invalidRequest([{ path: "waitMs", message: `must be at most ${MAX_WAIT_MS}` }]);
  return waitMs;
}

function readX402Payment(payment: X402Payment | undefined): PaymentRequest {
  if (!payment?.terms) throw invalidRequest([{ path: "payment", message: "needs terms" }]);
  const { terms, authorization = null, ...rest } = payment;
  return { ...rest, terms, authorization };
}

function readUnits(text: string | undefined, path: string): bigint | undefined {
  if (text === undefined) return undefined;
  if (!isUnits(text)) throw invalidRequest([{ path, message: "must be a whole number in digits" }]);
  return BigInt(text);
}

/** A malformed id is answered like an unknown one. */
function keyOf(orgId: string, recordId: string) {
  if (!isId("txn", recordId)) throw new DomainError("TX_001");
  return { orgId: readOrgId(orgId), recordId };
}

function requestKey({
  idempotencyKey,
  bodyHash,
}: Pick<CreateRecordRequest, "idempotencyKey" | "bodyHash">): RequestKey | null {
  if (idempotencyKey === undefined) return null;
  return { idempotencyKey: readIdempotencyKey(idempotencyKey), bodyHash: readBodyHash(bodyHash) };
}
