/** The organisation and key behind a request. */
export interface Principal {
  orgId: string;
  orgCode: string;
  keyId: string;
  keyUsableUntil: Date;
  subscriptionEndsAt: Date;
  ratePerSecond: number;
  rateBurst: number;
}
