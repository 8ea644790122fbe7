import { type Example } from "./webhookExamples";
import { minute, secondsAfter, shopAddress } from "./exampleFixtures";

// A payer outside buys from shop-7 by x402.

const network = "eip155:31337";
const asset = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const payer = "0xde709f2102306220921060314715629080e2fb77";
const amount = "250000000";

const terms = {
  ...{ scheme: "exact", network, asset, amount, payTo: shopAddress, maxTimeoutSeconds: 60 },
  extra: { name: "Wonrail Won", version: "1" },
};

const body = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    accepted: terms,
    payload: {
      authorization: {
        ...{ from: payer, to: shopAddress, value: amount },
        ...{ validAfter: "1768390500", validBefore: "1768391160", nonce: `0x${"5a".repeat(32)}` },
      },
      signature: `0x${"3b".repeat(32)}${"2c".repeat(32)}1b`,
    },
  },
  paymentRequirements: terms,
};

export const x402Story: Example[] = [
  {
    operation: "getX402Support",
    at: minute(32),
    data: {
      kinds: [
        { x402Version: 2, scheme: "exact", network, extra: { asset, name: "Wonrail Won", version: "1" } },
      ],
      extensions: [],
      signers: { "eip155:*": ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"] },
    },
  },
  { operation: "verifyX402Payment", at: minute(33), body, data: { isValid: true, payer } },
  {
    operation: "settleX402Payment",
    at: secondsAfter(minute(33), 2),
    body,
    data: { success: true, payer, transaction: `0x${"e4".repeat(32)}`, network, amount },
  },
];
