import { implementAdmin } from "@wonrail/kit/admin";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { type GrpcService } from "@wonrail/kit/grpc/server";
import { PaymentAdminServiceService } from "@wonrail/proto/payment/v1/admin";
import { type App } from "./app";

/** The operators' gRPC methods. The kit has checked the operator's role and reason. */
export function adminRpc(app: Pick<App, "requestRebuild" | "findRebuild">): GrpcService {
  return implementAdmin(PaymentAdminServiceService, {
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
