import { implementAdmin } from "@wonrail/kit/admin";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { isId } from "@wonrail/kit/contract/ids";
import { type GrpcService, readOrgId } from "@wonrail/kit/grpc/server";
import { readPage } from "@wonrail/kit/page";
import { PaymentAdminServiceService } from "@wonrail/proto/payment/v1/admin";
import { type App } from "./app";
import { ROW_INDEX } from "./queries/getPayout";

type AdminApp = Pick<
  App,
  "findRebuild" | "getOverview" | "getPayout" | "listPayoutRows" | "requestRebuild" | "search"
>;

/** The operators' gRPC methods. The kit has checked the operator's role and reason. */
export function adminRpc(app: AdminApp): GrpcService {
  return implementAdmin(PaymentAdminServiceService, {
    async getOverview() {
      const { pendingSince, rebuild, ...counts } = await app.getOverview();
      return {
        ...counts,
        pendingSince: pendingSince ?? undefined,
        rebuild: rebuild && { ...rebuild, finishedAt: rebuild.finishedAt ?? undefined },
      };
    },

    async search({ text }) {
      return { hits: await app.search(text.trim()) };
    },

    async getPayoutDetails({ orgId, payoutId, rows }) {
      if (!isId("pyo", payoutId))
        throw invalidRequest([{ path: "payoutId", message: "must be a payout's id" }]);
      const key = { orgId: readOrgId(orgId), payoutId };
      const page = readPage(rows, (index) => ROW_INDEX.test(index));
      const { items, info } = await app.listPayoutRows({ ...key, status: undefined, page });
      return { payout: await app.getPayout(key), rows: items, page: info };
    },

    async beginRebuild(_request, { operator }) {
      return { rebuildId: await app.requestRebuild(operator) };
    },

    async getRebuild({ rebuildId }) {
      const rebuild = await app.findRebuild(rebuildId);
      if (!rebuild) throw invalidRequest([{ path: "rebuildId", message: "there is no such rebuild" }]);
      const { organisations, entries, settlements, isFinished } = rebuild;
      return { organisations, entries, settlements, finished: isFinished };
    },
  });
}
