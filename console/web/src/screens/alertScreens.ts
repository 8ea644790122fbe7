export type AlertScreen =
  | "/settlement"
  | "/reconciliation"
  | "/dead-letters"
  | "/approvals"
  | "/audit"
  | "/system";

const SCREENS: Record<Exclude<AlertScreen, "/system">, readonly string[]> = {
  "/settlement": [
    "TransfersDelayed",
    "SettlementDelayed",
    "ScheduledTransfersDelayed",
    "ScanDelayed",
    "SettlementStuck",
    "OperationsBlocked",
    "QueuePaused",
    "OperatorRoleMissing",
    "TransactionLost",
    "NonceGap",
    "SignerGasLow",
    "MintAllowanceLow",
    "MintableTodayLow",
    "WalletNotFrozen",
    "WalletBlocked",
    "ChainHeadStale",
    "FinalBlockReplaced",
    "ReorgsNearFinality",
    "ChainEndpointsDisagree",
    "ChainEndpointSilent",
    "DepositsDelayed",
    "DepositTooLarge",
    "SignerRefuses",
    "LegOverLimit",
  ],
  "/reconciliation": [
    "InvariantBroken",
    "InvariantsUnchecked",
    "AccountsUnchecked",
    "ClosedAccountsHoldMoney",
    "BooksDiffer",
    "ReconciliationStale",
    "SettlementMismatch",
    "EventsLost",
  ],
  "/dead-letters": ["DeadLetters", "WebhooksDelayed"],
  "/approvals": ["ProposalsWaiting"],
  "/audit": ["AuditUnchecked"],
};

/** Alerts with a screen of their own. */
export const ALERT_NAMES: readonly string[] = Object.values(SCREENS).flat();

/** The screen that shows the cause of an alert: System for processes, the bus and the gateway. */
export function screenOfAlert(name: string): AlertScreen {
  const found = Object.entries(SCREENS).find(([, names]) => names.includes(name));
  return (found?.[0] as AlertScreen | undefined) ?? "/system";
}
