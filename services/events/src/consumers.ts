import { type BulkHandler, type ConsumerSpec } from "@wonrail/kit/inbox";
import { type App } from "./app";

/** The way in by events. One group for each feed, so that a slow feed holds up no other. */
export function consumers(app: App): ConsumerSpec[] {
  return [
    {
      group: "events.journal",
      topics: ["wonrail.ledger.v1"],
      handlers: { journal_posted: { all: app.projectJournal } },
    },
    {
      group: "events.chain",
      topics: ["wonrail.relayer.v1"],
      handlers: sameFor(app.projectChain, [
        "operations_submitted",
        "operations_confirmed",
        "operation_failed",
        "deposit_credited",
        "record_changed",
        "wallet_block_changed",
      ]),
    },
    {
      group: "events.wallets",
      topics: ["wonrail.wallet.v1"],
      handlers: sameFor(app.projectWallets, [
        "wallet_created",
        "wallet_updated",
        "wallet_deactivated",
        "wallet_reopened",
      ]),
    },
    {
      group: "events.metadata",
      topics: ["wonrail.payment.v1"],
      handlers: {
        metadata_changed: { all: app.projectMetadata },
        ...sameFor(app.projectPayouts, ["payout_created", "payout_progressed", "payout_completed"]),
      },
    },
    {
      group: "events.keys",
      topics: ["wonrail.auth.v1"],
      handlers: sameFor(app.projectKeys, ["key_issued", "key_refreshed", "key_revoked"]),
    },
  ];
}

/** The types share one handler, so that a mixed batch is one call of it. */
function sameFor(all: BulkHandler["all"], types: string[]): ConsumerSpec["handlers"] {
  const handler = { all };
  return Object.fromEntries(types.map((type) => [type, handler]));
}
