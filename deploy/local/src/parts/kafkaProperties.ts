export interface BrokerPlace {
  brokerPort: number;
  controllerPort: number;
  dataDir: string;
}

/** A node that is broker and controller, on the loopback interface, with all replica counts set to 1. */
export function brokerProperties({ brokerPort, controllerPort, dataDir }: BrokerPlace): string {
  return Object.entries({
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${brokerPort},CONTROLLER://127.0.0.1:${controllerPort}`,
    "controller.listener.names": "CONTROLLER",
    "log.dirs": dataDir,
    "num.partitions": 1,
    "auto.create.topics.enable": false,
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    // The stock buffer of 128 MB does not fit the small heap.
    "log.cleaner.dedupe.buffer.size": 2_097_152,
    // The controller notices a killed broker, and accepts it again, in 4 s rather than 11 s.
    "broker.session.timeout.ms": 3_000,
    "broker.heartbeat.interval.ms": 1_000,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}
