import { RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { type Call, calls } from "./callRows";
import { CHAIN } from "./services";

/** To an address without a wallet, so that the chain is not asked. */
const X402_PAYMENT = {
  ...{ x402Version: 2, acceptedScheme: "exact", acceptedNetwork: "eip155:31337" },
  terms: {
    ...{ scheme: "exact", network: "eip155:31337", asset: CHAIN.TOKEN_ADDRESS, amount: "1000000" },
    payTo: CHAIN.PAYMENT_MANAGER_ADDRESS,
  },
  authorization: {
    ...{ from: CHAIN.TOKEN_ADDRESS, to: CHAIN.PAYMENT_MANAGER_ADDRESS, value: "1000000" },
    ...{ validAfter: "0", validBefore: "4102444800", nonce: `0x${"5a".repeat(32)}` },
  },
  signature: Buffer.alloc(65, 1),
};

export const X402_CALLS: readonly Call[] = calls("gateway", "chain-relayer", RelayerServiceService, {
  getX402Support: { good: () => ({}), bad: null },
  verifyX402Payment: {
    good: ({ orgId }) => ({ orgId, payment: X402_PAYMENT }),
    bad: ["REQ_001 payment", (good) => ({ ...good, payment: undefined })],
  },
  settleX402Payment: {
    good: ({ orgId }) => ({ orgId, payment: X402_PAYMENT, waitMs: 100 }),
    bad: ["REQ_001 waitMs", (good) => ({ ...good, waitMs: 30_001 })],
  },
});
