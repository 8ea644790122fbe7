import { RelayerServiceService, type X402Payment } from "@wonrail/proto/relayer/v1/relayer";
import { type Call, calls } from "./callRows";
import { CHAIN } from "./services";

/** An expired payment to this address: the answer needs no chain. */
function paymentTo(payTo: string): X402Payment {
  const network = `eip155:${CHAIN.CHAIN_ID}`;
  const [asset, amount] = [CHAIN.TOKEN_ADDRESS, "1000000"];
  return {
    ...{ x402Version: 2, acceptedScheme: "exact", acceptedNetwork: network },
    terms: { scheme: "exact", network, asset, amount, payTo },
    authorization: {
      ...{ from: asset, to: payTo, value: amount, validAfter: "0", validBefore: "1" },
      nonce: `0x${"5a".repeat(32)}`,
    },
    signature: Buffer.alloc(65, 1),
  };
}

export const X402_CALLS: readonly Call[] = calls("gateway", "chain-relayer", RelayerServiceService, {
  getX402Support: { good: () => ({}), bad: null },
  verifyX402Payment: {
    good: ({ orgId, payee }) => ({ orgId, payment: paymentTo(payee.address) }),
    bad: ["REQ_001 payment", (good) => ({ ...good, payment: undefined })],
  },
  settleX402Payment: {
    good: ({ orgId, payee }) => ({ orgId, payment: paymentTo(payee.address), waitMs: 100 }),
    bad: ["REQ_001 waitMs", (good) => ({ ...good, waitMs: 30_001 })],
  },
});
