import { newId } from "@wonrail/kit/contract/ids";
import { IntentKind, TransactionType } from "@wonrail/proto/ledger/v1/intents";
import { type Entry } from "@wonrail/proto/ledger/v1/ledger";
import { type JournalReader } from "../settlement/commands/pullEntries";

/** A wallet's line of an entry. */
export type LineOf = [walletId: string, amountWon: bigint, sequence: bigint];

let issued = 0n;

/** An entry with these lines, balanced by a line of the organisation. */
export function entryOf(orgSequence: bigint, requestId: string, ...lines: LineOf[]): Entry {
  const left = lines.reduce((sum, [, amountWon]) => sum - amountWon, 0n);
  const all: LineOf[] = left === 0n ? lines : [...lines, ["acc_issuance", left, (issued += 1n)]];
  const postings = all.map(([accountId, amountWon, sequence]) => ({
    ...{ accountId, amountWon: amountWon.toString(), sequence },
    ...{ type: TransactionType.UNSPECIFIED, balanceAfterWon: "0" },
  }));
  const names = { entryId: newId("opn"), requestId, relatedId: requestId, orgSequence };
  const rest = { kind: IntentKind.PAYMENT, balances: [], metadata: {}, result: undefined };
  return { ...names, ...rest, postings, postedAt: new Date("2026-03-01T00:00:00Z") };
}

/** Answers as the ledger does with these journals, and counts the calls. */
export function journalsOf(journals: Map<string, Entry[]>): JournalReader & { calls: number } {
  const reader = {
    calls: 0,
    listJournal: async ({ orgId = "", afterSequence = 0n, limit = 0 }) => {
      reader.calls += 1;
      const entries = journals.get(orgId) ?? [];
      const found = entries.filter(({ orgSequence }) => orgSequence > afterSequence).slice(0, limit);
      return { entries: found, lastSequence: entries.at(-1)?.orgSequence ?? 0n };
    },
    listJournalHeads: async () => ({
      heads: [...journals].map(([orgId, entries]) => ({
        orgId,
        lastSequence: entries.at(-1)?.orgSequence ?? 0n,
        lastRequestId: entries.at(-1)?.requestId,
      })),
    }),
  };
  return reader;
}
