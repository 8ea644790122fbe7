import { type ReactNode } from "react";
import { type RequestOf } from "../api/services";
import { ActionButton } from "../blocks/actionButton";

const FREEZE = "wonrail.ledger.v1.LedgerAdminService/FreezeWallet";
const UNFREEZE = "wonrail.ledger.v1.LedgerAdminService/UnfreezeWallet";
type Freeze = NonNullable<RequestOf<typeof FREEZE>["freeze"]>;

interface FreezeActionsProps {
  orgId: string;
  walletId: string;
  /** OPENING, ACTIVE, DEACTIVATING or DEACTIVATED. */
  state: string;
  /** The operators' freeze: a name that ends with _NONE, _OUTGOING or _ALL. */
  frozen: string | undefined;
}

/** A freeze acts at once. Its end, and a reopening, need a second operator. */
export function FreezeActions({ orgId, walletId, state, frozen }: FreezeActionsProps): ReactNode {
  const isFrozen = frozen !== undefined && /_(OUTGOING|ALL)$/.test(frozen);
  return (
    <>
      {frozen?.endsWith("_ALL") ? undefined : (
        <ActionButton
          method={FREEZE}
          label="Freeze wallet"
          isDangerous
          consequence={`Stops movements of ${walletId} at once. Requests are refused with WAL_005.`}
          fields={[
            {
              name: "freeze",
              label: "Freeze",
              kind: "select",
              initial: "FREEZE_OUTGOING",
              options: [
                { value: "FREEZE_OUTGOING", label: "Outgoing movements" },
                { value: "FREEZE_ALL", label: "All movements" },
              ],
            },
          ]}
          request={({ freeze }) => ({ orgId, walletId, freeze: freeze as Freeze })}
        />
      )}
      {isFrozen ? (
        <ActionButton
          method={UNFREEZE}
          label="Unfreeze wallet"
          consequence={`Lets the money of ${walletId} move again. A freeze by the token's blocklist stays.`}
          fields={[
            {
              name: "remaining",
              label: "Remaining freeze",
              kind: "select",
              initial: "FREEZE_NONE",
              options: [
                { value: "FREEZE_NONE", label: "None" },
                { value: "FREEZE_OUTGOING", label: "Outgoing movements" },
              ],
            },
          ]}
          request={({ remaining }) => ({ orgId, walletId, remaining: remaining as Freeze })}
        />
      ) : undefined}
      {state === "DEACTIVATED" ? (
        <ActionButton
          method="wonrail.wallet.v1.WalletAdminService/ReopenWallet"
          label="Reopen wallet"
          consequence={`Makes ${walletId} ACTIVE again. A job reopens it after the approval.`}
          request={() => ({ orgId, walletId })}
        />
      ) : undefined}
    </>
  );
}
