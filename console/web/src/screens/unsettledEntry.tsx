import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode } from "react";
import { CallError } from "../api/call";
import { useRpc } from "../api/hooks";
import { type AnswerOf } from "../api/services";
import { Empty, Failure, Loaded } from "../blocks/states";
import { formatCount } from "../format/amounts";
import { formatTime } from "../format/times";
import { type Entry } from "./operationTimeline";

const QUEUES = "wonrail.relayer.v1.RelayerAdminService/ListQueues";
type Queue = AnswerOf<typeof QUEUES>["queues"][number];

interface UnsettledEntryProps {
  orgId: string;
  entry: Entry;
  error: unknown;
  retry: () => void;
}

/** Why the relayer has no operation of an entry. */
export function UnsettledEntry({ orgId, entry, error, retry }: UnsettledEntryProps): ReactNode {
  const isUnknown = error instanceof CallError && error.code === "REQ_001";
  if (error && !isUnknown) return <Failure error={error} retry={retry} />;
  if (entry === undefined) return <Empty>The ledger refused it, so nothing settles on the chain.</Empty>;
  if (entry.postings.length === 0 && entry.kind !== "INTENT_KIND_PLACE_HOLD")
    return <Empty>It moves no money, so nothing settles on the chain.</Empty>;
  return <QueueOf orgId={orgId} />;
}

function QueueOf({ orgId }: { orgId: string }): ReactNode {
  const queues = useRpc(QUEUES, { orgId }, { refetchMs: 5_000 });
  return (
    <Loaded query={queues} what="the settlement queue">
      {({ queues: [queue] }) => (
        <Text size="sm" className="tone" data-tone="waits">
          The relayer has not read this entry yet. {textOf(queue)}{" "}
          <Link to="/settlement">Open settlement</Link>
        </Text>
      )}
    </Loaded>
  );
}

function textOf(queue: Queue | undefined): string {
  if (queue === undefined) return "Its organisation has no settlement queue yet.";
  const { pausedReason, queued, queuedSince } = queue;
  const pause =
    pausedReason === undefined ? "" : `The queue of its organisation is paused: ${pausedReason}. `;
  const waiting = formatCount(queued, "entry waits", "entries wait");
  return `${pause}${waiting} in the queue, the oldest since ${formatTime(queuedSince)}.`;
}
