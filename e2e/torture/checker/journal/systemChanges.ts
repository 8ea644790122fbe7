import { type SystemChange } from "../wallets/checkWallets";
import { type Links } from "./checkEffects";
import { digitsOf, type Entry, type Journal } from "./readJournal";

/** The changes of wallets by entries that no call asked for. */
export function systemChangesOf({ entries }: Journal, { operationOf }: Links): SystemChange[] {
  const holds = new Map(entries.flatMap(({ id, hold }) => (hold ? [[digitsOf(id), hold] as const] : [])));
  return entries
    .filter(({ id }) => !operationOf(id))
    .flatMap((entry) => changesOf(entry, holds).map((change) => ({ ...change, sequence: entry.sequence })));
}

function changesOf(
  { kind, lines, hold, touched, originalDigits }: Entry,
  holds: Map<string, NonNullable<Entry["hold"]>>,
): Omit<SystemChange, "sequence">[] {
  switch (kind) {
    case "postHold":
    case "voidHold": {
      const ended = holds.get(originalDigits!);
      return ended ? [{ ...ended, change: kind === "postHold" ? "post" : "void" }] : [];
    }
    case "placeHold":
      return hold ? [{ ...hold, change: "hold" }] : [];
    case "reopenAccount":
      return touched.map((walletId) => ({ walletId, change: "reopen", amount: 0 }));
    default:
      return lines
        .filter(({ account }) => account.startsWith("wal_"))
        .map(({ account: walletId, amount }) => ({
          ...{ walletId, change: amount > 0 ? ("credit" as const) : ("debit" as const) },
          amount: Math.abs(amount),
        }));
  }
}
