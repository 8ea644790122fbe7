import { won } from "@wonrail/kit/contract/money";
import { GetEntriesResponse, ListJournalResponse } from "@wonrail/proto/ledger/v1/ledger";
import { requestOf, postTo, soundLedger } from "../commands/testing/ledger";
import { chargeOf } from "../domain/testing/requests";
import type { Entry } from "../domain/types";
import { entryMessage, requestStateMessage } from "../messages";
import { entryBytes } from "./entryBytes";
import { getEntries, type RequestState } from "./getEntries";
import { listJournal } from "./listJournal";

// Entries with notes at every limit, four bytes for each character: some 22 KB each.

const COUNT = 80;
const MIB = 1024 * 1024;
const NOTES = {
  memo: "😀".repeat(200),
  reference: "😀".repeat(100),
  metadata: Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`${index}${"😀".repeat(39)}`, "😀".repeat(500)]),
  ),
};

const ledger = soundLedger();
const charges: string[] = [];

beforeAll(async () => {
  const walletId = await ledger.open();
  for (let index = 0; index < COUNT; index += 1) {
    const charge = requestOf(ledger.orgId, chargeOf(walletId, 1_000n), NOTES);
    charges.push(charge.requestId);
    await postTo(ledger.engine, charge);
  }
  // The entry of a cancellation has the charge with it, and has no notes of its own here.
  for (const chargeRequestId of charges)
    await ledger.post({ kind: "cancelCharge", chargeRequestId, amountWon: won(400n) });
  for (const chargeRequestId of charges.slice(0, 10))
    await ledger.post({ kind: "cancelCharge", chargeRequestId, amountWon: won(600n) }, NOTES);
}, 60_000);

test("pages of the journal stay below their size, and have every entry once in order", async () => {
  const entries: Entry[] = [];
  for (;;) {
    const after = entries.at(-1)?.orgSequence ?? 0n;
    const page = await listJournal(ledger.database.db, ledger.orgId, after, 500);
    if (page.entries.length === 0) break;
    const message = { entries: page.entries.map(entryMessage), lastSequence: page.lastSequence };
    expect(ListJournalResponse.encode(message).finish().length).toBeLessThanOrEqual(MIB);
    entries.push(...page.entries);
  }
  const sequences = entries.map(({ orgSequence }) => Number(orgSequence));
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  expect(entries.length).toBeGreaterThan(2 * COUNT + 10);
  for (const entry of entries)
    expect(
      ListJournalResponse.encode({ entries: [entryMessage(entry)], lastSequence: 0n }).finish().length,
    ).toBeLessThanOrEqual(entryBytes(entry) + 16);
});

test("an answer about many requests stays below its size, and names the ids that had no room", async () => {
  const states: RequestState[] = [];
  let answers = 0;
  for (let ids = charges; ids.length > 0; answers += 1) {
    const { requests, unanswered } = await getEntries(ledger.database.db, ledger.orgId, ids);
    const message = { requests: requests.map(requestStateMessage), unansweredIds: unanswered };
    expect(GetEntriesResponse.encode(message).finish().length).toBeLessThanOrEqual(MIB + 50_000);
    states.push(...requests);
    ids = unanswered;
  }
  expect(answers).toBeGreaterThan(1);
  expect(states.map(({ requestId }) => requestId)).toEqual(charges);
  expect(states[0]!.cancellations).toHaveLength(2);
  expect(requestStateMessage(states[0]!).cancellations.map(({ original }) => original)).toEqual([
    undefined,
    undefined,
  ]);
});
