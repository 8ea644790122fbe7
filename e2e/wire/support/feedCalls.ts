import { FeedServiceService } from "@wonrail/proto/common/v1/feed";
import { type Call, calls } from "./callRows";

/** Each reader of a feed, and the feed's service. */
export const FEED_CALLS: readonly Call[] = [
  ...readsFeed("payment", "auth", "wonrail.auth.v1"),
  ...readsFeed("payment", "ledger", "wonrail.ledger.v1"),
  ...readsFeed("payment", "chain-relayer", "wonrail.relayer.v1"),
  ...readsFeed("chain-relayer", "ledger", "wonrail.ledger.v1"),
  ...readsFeed("chain-relayer", "wallet", "wonrail.wallet.v1"),
  ...readsFeed("events", "auth", "wonrail.auth.v1"),
  ...readsFeed("events", "wallet", "wonrail.wallet.v1"),
  ...readsFeed("events", "ledger", "wonrail.ledger.v1"),
  ...readsFeed("events", "payment", "wonrail.payment.v1"),
  ...readsFeed("events", "chain-relayer", "wonrail.relayer.v1"),
];

function readsFeed(caller: string, server: string, topic: string): Call[] {
  return calls(caller, server, FeedServiceService, {
    listEvents: {
      good: () => ({ topic, cursors: [], limit: 10, waitMs: 0 }),
      bad: ["REQ_001 limit", (good) => ({ ...good, limit: 1_001 })],
    },
  });
}
