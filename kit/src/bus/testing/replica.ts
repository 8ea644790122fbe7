import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { FeedServiceService } from "@wonrail/proto/common/v1/feed";
import { DomainError } from "../../contract/errors";
import { sql } from "../../db";
import { createClient } from "../../grpc/client";
import type { ConsumerSpec } from "../../inbox";
import { Registry } from "../../metrics";
import { startConsumers } from "../../service/startConsumers";
import { openTestDatabase, testLog } from "../../testing";
import { openKafkaBus } from "../kafka";

/** Plain data, so that it can be passed to another process. */
export interface ReplicaPlace {
  databaseUrl: string;
  /** Address of the producer's gRPC server or of its proxy. */
  feedAddress: string;
  /** Without brokers the feed alone brings the events. */
  kafka?: { brokers: string[]; proxy: { host: string; port: number } };
  topic: string;
  group: string;
  handleMs: number;
}

export interface Replica {
  registry: Registry;
  live(): boolean;
  /** Events of this key fail as if a dependency were away. */
  failing: { key?: string };
  close(): Promise<void>;
}

/** The least lease that a broker allows. */
const SESSION_TIMEOUT_MS = 6_000;
const REQUEST_TIMEOUT_MS = 2_000;

/** The consumers of one replica of a service: its pool, its clients and its subscription. */
export function startReplica(place: ReplicaPlace): Replica {
  const [log, registry] = [testLog(), new Registry()];
  const { topic, group, kafka } = place;
  const db = openTestDatabase(place.databaseUrl, "sample", { connectTimeoutMs: 3_000 });
  const failing: Replica["failing"] = {};
  const spec: ConsumerSpec = {
    group,
    topics: [topic],
    handlers: {
      async noted(tx, { aggregateId, version, payload }) {
        if (payload.toString() === "poison") throw new TypeError("cannot read properties of undefined");
        if (aggregateId === failing.key) throw new DomainError("SYS_002");
        await tx.run(sql`insert into effects (key, version) values (${aggregateId}, ${version})`);
        await sleep(place.handleMs);
      },
    },
  };
  const feed = createClient(FeedServiceService, {
    ...{ name: "producer", address: place.feedAddress, log, registry, defaultTimeoutMs: 10_000 },
  });
  const bus =
    kafka &&
    openKafkaBus(
      { clientId: "replica", brokers: kafka.brokers, replication: 1, log, registry },
      {
        sessionTimeoutMs: SESSION_TIMEOUT_MS,
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
        dial: ({ onConnect }) => connect(kafka.proxy, onConnect).setNoDelay(true),
      },
    );
  const consumers = startConsumers({
    ...{ db, bus, topics: [], consumers: [spec], feeds: { [topic]: feed }, log, registry },
    fail: (error) => log.fatal({ err: error }, "the replica cannot go on"),
  });
  const close = async (): Promise<void> => {
    await consumers.close();
    await bus?.close();
    feed.close();
    await db.close();
  };
  let closed: Promise<void> | undefined;
  return { registry, failing, live: () => consumers.live(), close: () => (closed ??= close()) };
}
