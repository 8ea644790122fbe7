import { type EventType } from "@wonrail/kit/contract/eventTypes";

/** An object of the REST API, as a read of it answers. */
export type ObjectData = Readonly<Record<string, unknown>>;

export interface ObjectState {
  data: ObjectData;
  /** The reason of a failed settlement of the object. */
  failureReason: string | null;
}

/** The settlement state of a ledger entry or hold, from an event of chain-relayer. */
export interface SettlementNews {
  orgId: string;
  ledgerRef: string;
  /** The event of chain-relayer. */
  sourceId: string;
  occurredAt: Date;
  status: "SUBMITTED" | "CONFIRMED" | "FAILED";
  network: string;
  txHash: string | null;
  blockNumber: number | null;
  failureReason: string | null;
}

/** Effect of one event of a service on one public object. */
export interface Change {
  orgId: string;
  objectId: string;
  /** The event of the service. Ids of public events follow from it. */
  sourceId: string;
  occurredAt: Date;
  /** The public events that tell of the change, in their order. */
  types: readonly EventType[] | ((before: ObjectState | undefined) => readonly EventType[]);
  /** The ledger entry that the change comes from. Its settlement may have arrived before it. */
  ledgerRef?: string;
  /** Returns the object after the change, or undefined when nothing must be stored or published. */
  apply: (state: ObjectState | undefined) => ObjectState | undefined;
  /** The settlement that the change brings. It waits when the object is not there yet. */
  settlement?: SettlementNews;
}
