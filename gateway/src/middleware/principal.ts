import { type AddressRange } from "@wonrail/kit/contract/addressRange";

/** The organisation and key behind a request. */
export interface Principal {
  orgId: string;
  orgCode: string;
  keyId: string;
  /** `wk_test_…`. */
  isTestKey: boolean;
  keyUsableUntil: Date;
  subscriptionEndsAt: Date;
  ratePerSecond: number;
  rateBurst: number;
  scopes: ReadonlySet<string>;
  /** Empty: any address. */
  allowedAddresses: readonly AddressRange[];
  /** The version of the API for requests without a version. */
  apiVersion: string;
}
