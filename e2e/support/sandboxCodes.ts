import { eventually } from "@wonrail/kit/testing";
import { type Api } from "./api";
import { charged, wallet } from "./chargedWallet";

const NOBODY = "0".repeat(32);

/** Requests that are refused with the codes of the sandbox. */
export const SANDBOX_CODES = {
  SBX_001: ({ api }: { api: Api }) => api.call("POST", `/api/sandbox/settlements/trf_${NOBODY}/hold`),
  SBX_002: async ({ api }: { api: Api }) => {
    const { chargeId } = await charged(api, 1_000);
    await eventually(
      async () => {
        const { settlement } = await api.get(`/api/wallets/charge/${chargeId}`);
        expect(settlement.status).toBe("CONFIRMED");
      },
      { timeoutMs: 60_000 },
    );
    const refused = await api.call("POST", `/api/sandbox/settlements/${chargeId}/hold`);
    expect(refused.body.error?.details).toEqual({ state: "CONFIRMED" });
    return refused;
  },
  SBX_003: async ({ api }: { api: Api }) => {
    const { walletId } = await wallet(api);
    const refused = await api.call("POST", "/api/sandbox/deposits", { walletId, amount: 2_000_000_000 });
    expect(refused.body.error?.details).toEqual({ reason: "faucet_empty" });
    return refused;
  },
};
