export type WalletType = "NORMAL" | "INCENTIVE" | "GOVERNMENT";
/** The organisation's own accounts: minted for charges, minted for accruals, moved from and to outside addresses. */
export type OrgAccountType = "ORG_ISSUANCE" | "ORG_INCENTIVE" | "ORG_EXTERNAL";
export type AccountType = WalletType | OrgAccountType;

/** Which movements of a frozen wallet are refused. */
export type Freeze = "NONE" | "OUTGOING" | "ALL";

/** Each has a freeze of its own, so ending one leaves the other. */
export type FreezeSource = "CHAIN" | "OPERATOR";

const STRICTNESS: Record<Freeze, number> = { NONE: 0, OUTGOING: 1, ALL: 2 };

export function isStricter(one: Freeze, other: Freeze): boolean {
  return STRICTNESS[one] > STRICTNESS[other];
}

export function isOrgAccount(type: AccountType): type is OrgAccountType {
  return type === "ORG_ISSUANCE" || type === "ORG_INCENTIVE" || type === "ORG_EXTERNAL";
}
