import { type ConsumerSpec } from "@wonrail/kit/inbox";
import { WalletCreated } from "@wonrail/proto/wallet/events/v1/events";
import { type App } from "./app";

/** The way in by events. */
export function consumers(app: App): ConsumerSpec[] {
  return [
    {
      group: "chain-relayer.settlement",
      topics: ["wonrail.ledger.v1"],
      handlers: {
        // The entries themselves are pulled when their queue has room.
        journal_posted: {
          all: (tx, events) =>
            app.recordHeads(
              tx,
              events.map(({ orgId, version }) => ({ orgId, sequence: version })),
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
