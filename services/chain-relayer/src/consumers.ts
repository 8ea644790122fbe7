import { type ConsumerSpec } from "@wonrail/kit/inbox";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { WalletCreated } from "@wonrail/proto/wallet/events/v1/events";
import { type App } from "./app";

/** The way in by events. */
export function consumers(app: App): ConsumerSpec[] {
  return [
    {
      group: "chain-relayer.settlement",
      topics: ["wonrail.ledger.v1"],
      handlers: {
        journal_posted: {
          all: (tx, events) =>
            app.receiveEntries(
              tx,
              events.map((event) => ({ origin: event, entry: JournalPosted.decode(event.payload).entry! })),
            ),
        },
      },
    },
    {
      group: "chain-relayer.wallets",
      topics: ["wonrail.wallet.v1"],
      handlers: {
        wallet_created: (tx, { payload }) => {
          const { walletId, orgId, walletAddress } = WalletCreated.decode(payload).wallet!;
          return app.ingestWallet(tx, { walletId, orgId, address: walletAddress });
        },
      },
    },
  ];
}
