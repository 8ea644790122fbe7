import { type ReactNode } from "react";
import { type RequestOf } from "../api/services";
import { ActionButton } from "../blocks/actionButton";

const METHOD = "wonrail.relayer.v1.RelayerAdminService/EndOperation";
type Ending = NonNullable<RequestOf<typeof METHOD>["ending"]>;

const EFFECTS: Partial<Record<Ending, string>> = {
  OPERATION_ENDING_SETTLED_ELSEWHERE: "Settled elsewhere: a final transaction moved exactly its steps",
  OPERATION_ENDING_GIVE_UP: "Give up: re-credits the hold",
  OPERATION_ENDING_SIGN_ANEW: "Sign anew: sends it under another name",
  OPERATION_ENDING_READ_AGAIN: "Read again: an update of the relayer can read the entry",
  OPERATION_ENDING_PASS_OVER: "Pass over: never settles on the chain, so the chain lacks its movement",
};

/** The ways out that the relayer permits for an operation which waits for an operator. */
export function EndOperation({
  ledgerRef,
  endings,
}: {
  ledgerRef: string;
  endings: readonly Ending[];
}): ReactNode {
  if (endings.length === 0) return undefined;
  return (
    <ActionButton
      method={METHOD}
      label="End operation"
      isDangerous
      consequence={`Ends the settlement of ${ledgerRef} in the chosen way. The operations behind it continue.`}
      fields={[
        {
          name: "ending",
          label: "Way",
          kind: "select",
          required: true,
          initial: endings[0]!,
          options: endings.map((value) => ({ value, label: EFFECTS[value] ?? value })),
        },
        {
          name: "txHash",
          label: "Transaction hash",
          description: "The final transaction that proves “settled elsewhere”; empty for every other way.",
        },
      ]}
      request={({ ending, txHash }) => ({
        ledgerRef,
        ending: ending as Ending,
        ...(txHash === "" || txHash === undefined ? {} : { txHash: txHash.trim() }),
      })}
    />
  );
}
