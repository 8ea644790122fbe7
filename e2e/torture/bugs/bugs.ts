export interface PlantedBug {
  name: string;
  /** The source file, from the repository's root. */
  file: string;
  /** Texts of the file, each with its replacement. */
  changes: [text: string, bug: string][];
}

/** Bugs of all services. The harness must find each one by its effects. */
export const BUGS: PlantedBug[] = [
  ...inFolder("services/ledger/src", [
    bug("skip the balance check of a transfer", "intents/transfer/transfer.ts", [
      ['requireAvailable(from, amountWon, "TRF_001");', ""],
    ]),
    bug("forget the held part of a balance", "domain/book.ts", [
      ["return won(account.balanceWon - account.heldWon);", "return account.balanceWon;"],
    ]),
    bug("read the accounts without a lock", "store/accounts.ts", [
      ["order by number for no key update", "order by number"],
    ]),
    bug("let the parts of a cancelled charge exceed it", "intents/cancelCharge/cancelCharge.ts", [
      ["if (amountWon > remainingWon)", "if (amountWon > posting.amountWon)"],
    ]),
    bug("cancel a payment that is refunded in part", "intents/cancelPayment/cancelPayment.ts", [
      ["if (book.refundedPayments.has(key))", "if (book.cancelledPayments.has(key))"],
    ]),
    bug("accrue on the whole payment", "intents/payment/payment.ts", [
      ["accrualOf(split.normalWon,", "accrualOf(amountWon,"],
    ]),
    bug("take back each part of an accrual by itself", "intents/refundPayment/partOfPayment.ts", [
      [
        "incentiveAccruedWon: won(after.incentiveAccruedWon - before.incentiveAccruedWon),",
        "incentiveAccruedWon: returnedUpTo(made, amountWon).incentiveAccruedWon,",
      ],
    ]),
    bug("count no transfer against the daily limit", "intents/transfer/transfer.ts", [
      ["takeFromLimit(from, day, amountWon);", ""],
    ]),
    bug("store no idempotency keys", "store/changes.ts", [
      ["if (keyed.length > 0) insertKeys(tx, keyed, nowMs);", ""],
    ]),
    bug("commit entries without their events", "events.ts", [
      ["const posted = changes.answered.flatMap(", "const posted = changes.answered.slice(1).flatMap("],
    ]),
  ]),
  ...inFolder("services/payment/src", [
    bug("give each attempt its own key", "commands/execute.ts", [
      ["    key: idempotencyKey,\n", "    key: `${idempotencyKey}-${Date.now()}`,\n"],
    ]),
    bug("void the hold of a confirmed transfer", "commands/settleTransfers.ts", [
      [
        'isConfirmed ? { $case: "postHold", value } : { $case: "voidHold", value }',
        '{ $case: "voidHold", value }',
      ],
    ]),
    bug("never end the hold of a failed transfer", "commands/settleTransfers.ts", [
      [
        "const confirmed = settled.filter((one) => statusOf(one.transfer) === one.settled);",
        'const confirmed = settled.filter(({ settled: end }) => end === "CONFIRMED");',
      ],
    ]),
    bug("ignore the daily limit of transfers", "commands/readCommand.ts", [
      [
        "const amounts = { amountWon, dailyLimitWon, toAddress };",
        'const amounts = { amountWon, dailyLimitWon: dailyLimitWon && "900000000", toAddress };',
      ],
    ]),
    bug("project no refunds", "commands/projectJournal.ts", [
      ['save(all, "refund", (row) => row.refundId, saveRefunds);', ""],
    ]),
    bug("list every organisation's rows", "store/listRows.ts", [
      [
        "from ${table.name} where org_id = ${orgId} ${walk(range)}",
        "from ${table.name} where true ${walk(range)}",
      ],
    ]),
  ]),
  ...inFolder("services/chain-relayer/src", [
    bug("fail a hold before its authorization ends", "settlement/commands/expireHolds.ts", [
      ["if (!other && cursor.blockTime <= facts.endsAt!) continue;", ""],
      [
        "const next = decideNext(facts, evidence);",
        "const next = decideNext({ ...facts, endsAt: 0n }, evidence);",
      ],
    ]),
    bug("reuse the signer's nonce", "sender/commands/submit.ts", [
      ["await setNextNonce(tx, signer.address, nonce + 1n);", ""],
      ["const nonce = nextNonce > chainNonce ? nextNonce : chainNonce;", "const nonce = nextNonce;"],
    ]),
    bug("confirm an operation that the chain refused", "settlement/domain/decideNext.ts", [
      [
        'return { do: "retry", reason: evidence.reason, delayMs: delayAfter(attempts) };\n    case "not_carried"',
        'return { do: "confirm" };\n    case "not_carried"',
      ],
    ]),
    bug("skip the first entry of each page of the journal", "settlement/commands/pullEntries.ts", [
      ["const orders = fresh.flatMap(", "const orders = fresh.slice(fresh.length > 1 ? 1 : 0).flatMap("],
    ]),
    bug("take the newest block as final", "evm/provider.ts", [[" - BigInt(finality);", ";"]]),
    bug("send a scheduled transfer under a new key each time", "records/commands/runScheduledRecords.ts", [
      ["      idempotencyKey: recordId,\n", "      idempotencyKey: `${recordId}-${Date.now()}`,\n"],
    ]),
    bug("publish no confirmation", "settlement/commands/applyOutcomes.ts", [
      ["await appendEvents(tx, operationsConfirmed(confirmed, network));", "void confirmed;"],
    ]),
    bug("publish no change of a record", "records/commands/changeRecord.ts", [
      ["await appendEvents(tx, [recordChanged(record, change)]);", "void recordChanged(record, change);"],
    ]),
  ]),
  ...inFolder("services/wallet/src", [
    bug("publish no closed wallet", "commands/deactivateWallet.ts", [
      ["if (closed) await appendEvents(tx, [walletDeactivated(closed)]);", ""],
    ]),
    bug("publish no opened wallet", "commands/openAccount.ts", [
      ["await appendEvents(tx, [walletCreated(opened)]);", ""],
    ]),
    bug("sign another amount than the entry's", "commands/signAuthorizations.ts", [
      ["value: wonToTokenUnits(intent.amountWon),", "value: wonToTokenUnits(intent.amountWon) + 1n,"],
    ]),
    bug("list every organisation's wallets", "store/wallets.ts", [
      [
        "const conditions = [sql`org_id = ${orgId}`, sql`status",
        "const conditions = [sql`org_id <> ''`, sql`status",
      ],
    ]),
  ]),
  ...inFolder("services/events/src", [
    bug("publish no cancelled payment", "feed/domain/journal.ts", [
      ['[IntentKind.CANCEL_PAYMENT]: ["payment.cancelled"],', ""],
    ]),
    bug("ignore the object's order of deliveries", "webhooks/store/deliveries.ts", [
      ["and (w.ordering = 'NONE' or sequence is null or not exists (", "and (true or not exists ("],
    ]),
    bug("give a delivery up after one failed attempt", "webhooks/store/attempts.ts", [
      ["when done.pause_ms is null then 'FAILED' else 'PENDING' end", "else 'FAILED' end"],
    ]),
    bug("drop settlements that come before their entry", "feed/commands/publishChanges.ts", [
      ["if (change.settlement) waiting.push(change.settlement);", ""],
    ]),
    bug("sign another body than the delivered one", "webhooks/domain/signature.ts", [
      ["${id}.${atSeconds}.${body}", "${id}.${atSeconds}.${body.slice(0, 400)}"],
    ]),
    bug("number the events without a lock", "feed/store/organisations.ts", [
      ["order by org_id for update`", "order by org_id`"],
    ]),
  ]),
  ...inFolder("gateway/src", [
    bug("drop the Idempotency-Key", "routes/executeCommand.ts", [
      ["      idempotencyKey,\n      bodyHash", "      idempotencyKey: undefined,\n      bodyHash"],
    ]),
    bug("hash the body of each attempt differently", "routes/bodyHash.ts", [
      ["JSON.stringify(sorted(body))", "JSON.stringify([sorted(body), Date.now()])"],
    ]),
    bug("cache keys by their first characters", "middleware/principals.ts", [
      ['return hash("sha256", apiKey, "base64");', 'return hash("sha256", apiKey.slice(0, 8), "base64");'],
    ]),
    bug("skip the second page of a list", "routes/pagination.ts", [
      ["hasNext,\n    nextCursor: nextCursor ?? null,", "hasNext: false,\n    nextCursor: null,"],
    ]),
  ]),
  ...inFolder("services/auth/src", [
    bug("serve twice the daily limit of transfers", "messages.ts", [
      ["formatWon(dailyTransferLimitWon)", "String(2n * dailyTransferLimitWon)"],
    ]),
    bug("publish no issued key", "commands/issueKey.ts", [["events: [keyIssued(key)],", "events: [],"]]),
    bug("refresh a key without storing the new one", "commands/refreshKey.ts", [
      ["await insertApiKey(tx, successor);", ""],
    ]),
  ]),
];

function bug(name: string, file: string, changes: PlantedBug["changes"]): PlantedBug {
  return { name, file, changes };
}

function inFolder(folder: string, bugs: PlantedBug[]): PlantedBug[] {
  return bugs.map((one) => ({ ...one, file: `${folder}/${one.file}` }));
}
