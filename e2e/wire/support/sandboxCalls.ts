import { newId } from "@wonrail/kit/contract/ids";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { EventsServiceService } from "@wonrail/proto/events/v1/events";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import { RelayerServiceService, SandboxOrder } from "@wonrail/proto/relayer/v1/relayer";
import { type Call, calls } from "./callRows";
import { type Story } from "./story";

/** Both requests of a clock. */
const setSandboxClock = {
  good: ({ orgId }: Story) => ({ orgId, offsetMs: 1_000n }),
  bad: ["REQ_001 offsetMs", (good: { orgId: string }) => ({ ...good, offsetMs: 2n ** 60n })] as const,
};

/** The calls of the sandbox. */
export const SANDBOX_CALLS: readonly Call[] = [
  ...calls("gateway", "auth", AuthServiceService, {
    advanceSandboxClock: {
      good: ({ orgId, keyId }) => ({ orgId, keyId }),
      bad: ["REQ_001 to", (good) => ({ ...good, to: new Date("9999-01-01") })],
    },
    expireSandboxKey: {
      good: ({ other }) => ({ ...other, issuerKeyId: other.keyId }),
      bad: ["WAUTH_007", (good) => ({ ...good, keyId: newId("key") })],
    },
  }),
  ...calls("gateway", "payment", PaymentServiceService, { setSandboxClock }),
  ...calls("gateway", "events", EventsServiceService, { setSandboxClock }),
  ...calls("gateway", "chain-relayer", RelayerServiceService, {
    setSandboxClock,
    orderSandboxSettlement: {
      good: ({ orgId, transferId: id }) => ({ orgId, id, order: SandboxOrder.HOLD }),
      bad: ["SBX_001", (good) => ({ ...good, id: newId("trf") })],
    },
    createSandboxDeposit: {
      good: ({ orgId, payee }) => ({ orgId, toAddress: payee.address, amountWon: "1000", waitMs: 100 }),
      bad: ["REQ_001 waitMs", (good) => ({ ...good, waitMs: 30_001 })],
    },
  }),
  ...calls("payment", "ledger", LedgerServiceService, { setSandboxClock }),
];
