import { charge, lines, minute, partOfCharge, payerWalletId, secondsAfter } from "./exampleFixtures";
import { type Example } from "./webhookExamples";

// The reports of the first minutes, in which the payer's wallet was charged.

const query = { from: "2026-01-14T00:30:00Z", to: "2026-01-14T00:37:00Z" };
const period = { from: "2026-01-14T00:30:00.000Z", to: "2026-01-14T00:37:00.000Z" };
const { chargeId, amount, createdAt } = charge;
const { settlement, status } = partOfCharge;

const chargeLine = {
  ...lines[0]!,
  transactionId: `jrn_${chargeId.slice(4)}-1`,
  ...{ type: "CHARGE", direction: "IN", amount, balanceAfter: amount, counterparty: null },
  ...{ memo: null, reference: null, relatedId: chargeId, cancelId: null, status, settlement, createdAt },
};

export const reportStory: Example[] = [
  {
    operation: "readStatements",
    at: secondsAfter(minute(20), 5),
    query: { walletId: payerWalletId, ...query },
    data: {
      ...period,
      statements: [
        {
          ...{ walletId: payerWalletId, openingBalance: 0, closingBalance: amount },
          transactions: [chargeLine],
        },
      ],
    },
  },
  {
    operation: "readSettlements",
    at: secondsAfter(minute(20), 6),
    query,
    data: {
      ...period,
      operations: [{ operationId: chargeId, type: "CHARGE", amount, settlement, createdAt }],
    },
  },
];
