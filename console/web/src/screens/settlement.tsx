import { Checkbox, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { call } from "../api/call";
import { useRpc } from "../api/hooks";
import { useLiveAnswer } from "../api/live";
import { pageAfter } from "../api/paging";
import { type AnswerOf } from "../api/services";
import { ActionButton } from "../blocks/actionButton";
import { Facts } from "../blocks/facts";
import { OperationLink, OrganisationLink, WalletLink } from "../blocks/links";
import { type Column, DataTable, PagedTable } from "../blocks/pagedTable";
import { Section } from "../blocks/section";
import { Loaded } from "../blocks/states";
import { formatCount, formatGwei, formatWei, groupDigits } from "../format/amounts";
import { formatSeconds, formatTime } from "../format/times";
import { enumWords } from "../format/words";
import { EndOperation } from "./endOperation";
import { meaningOf } from "./waitReasons";

const QUEUES = "wonrail.relayer.v1.RelayerAdminService/ListQueues";
const OPEN = "wonrail.relayer.v1.RelayerAdminService/ListOpenOperations";
const BLOCKED = "wonrail.relayer.v1.RelayerAdminService/ListBlockedWallets";
const PAGE = 100;
const REFETCH_MS = 5_000;

type Queue = AnswerOf<typeof QUEUES>["queues"][number];
type OpenOperation = AnswerOf<typeof OPEN>["operations"][number];

export function Settlement(): ReactNode {
  return (
    <>
      <h1>Settlement</h1>
      <StatesSection />
      <SignerSection />
      <QueuesSection />
      <OpenSection />
      <Section title="Wallets on the token's blocklist">
        <BlockedTable />
      </Section>
    </>
  );
}

function StatesSection(): ReactNode {
  const { answer } = useLiveAnswer("wonrail.relayer.v1.RelayerAdminService/GetOverview");
  return (
    <Section title="Open operations by state">
      <Facts
        items={[
          ["Not pulled from the ledger", formatCount(answer?.queued, "entry", "entries")],
          ["Oldest", formatSeconds(answer?.oldestSeconds || undefined)],
          ["Paused queues", formatCount(answer?.pausedQueues, "queue")],
          [
            "Last read block",
            answer?.readBlock &&
              `${groupDigits(answer.readBlock.number)} of ${formatTime(answer.readBlock.time)}`,
          ],
        ]}
      />
      <DataTable
        name="Open operations by state"
        rows={answer?.open ?? []}
        rowKey={({ state, reason }) => `${state} ${reason}`}
        empty="The relayer has no open operation."
        columns={[
          { title: "State", text: ({ state }) => state },
          { title: "Waits for", text: ({ reason }) => (reason === "" ? "its turn" : reason) },
          { title: "Meaning", text: ({ reason }) => meaningOf(reason) ?? "" },
          { title: "Operations", text: ({ operations }) => groupDigits(String(operations)), align: "right" },
          { title: "Oldest", text: ({ oldestSeconds }) => formatSeconds(oldestSeconds), align: "right" },
        ]}
      />
    </Section>
  );
}

function SignerSection(): ReactNode {
  const signer = useRpc("wonrail.relayer.v1.RelayerAdminService/GetSigner", {}, { refetchMs: REFETCH_MS });
  return (
    <Section title="Signer">
      <Loaded query={signer} what="the signer">
        {(state) => (
          <>
            <Facts
              items={[
                ["Address", <span className="mono">{state.funds?.address}</span>],
                ["Balance for gas", formatWei(state.balanceWei)],
                [
                  "Spent",
                  `${formatWei(state.funds?.spentWei)} within ${formatSeconds(state.funds?.spentOverSeconds)}`,
                ],
                ["Lasts", formatSeconds(state.funds?.lastsSeconds)],
                ["Next nonce", groupDigits(state.nextNonce)],
                ["Nonce of the newest block", groupDigits(state.latestNonce)],
                ["Nonce with the node's pool", groupDigits(state.pendingNonce)],
                ["Replica that may sign", state.leaseHolder],
                ["Until", formatTime(state.leaseEndsAt)],
              ]}
            />
            <DataTable
              name="Transactions under way"
              rows={state.transactions}
              rowKey={({ nonce }) => nonce}
              empty="No transaction is under way."
              columns={[
                { title: "Nonce", text: ({ nonce }) => nonce, align: "right" },
                { title: "State", text: (transaction) => transaction.state },
                {
                  title: "Transaction",
                  text: ({ txHash }) => txHash,
                  cell: ({ txHash }) => <span className="mono">{txHash}</span>,
                },
                { title: "Operations", text: ({ operations }) => String(operations), align: "right" },
                { title: "Versions", text: ({ versions }) => String(versions), align: "right" },
                { title: "Sends", text: ({ sends }) => String(sends), align: "right" },
                {
                  title: "Gas limit",
                  text: ({ gasLimit }) => `${groupDigits(gasLimit)} gas`,
                  align: "right",
                },
                {
                  title: "Highest fee for a unit of gas",
                  text: ({ maxFeeWei }) => formatGwei(maxFeeWei),
                  align: "right",
                },
                { title: "Sent at", text: ({ sentAt }) => formatTime(sentAt) },
              ]}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function QueuesSection(): ReactNode {
  const [pausedOnly, setPausedOnly] = useState(false);
  return (
    <Section
      title="Queues by organisation"
      actions={
        <Checkbox
          size="sm"
          label="Paused only"
          checked={pausedOnly}
          onChange={({ currentTarget }) => setPausedOnly(currentTarget.checked)}
        />
      }
    >
      <PagedTable
        name="Queues"
        method={QUEUES}
        filters={[pausedOnly]}
        refetchMs={REFETCH_MS}
        load={async (afterOrgId, signal) => {
          const position = afterOrgId === undefined ? {} : { afterOrgId };
          const { queues } = await call(QUEUES, { pausedOnly, limit: PAGE, ...position }, { signal });
          return pageAfter(queues, PAGE, ({ orgId }) => orgId);
        }}
        rowKey={({ orgId }) => orgId}
        empty={pausedOnly ? "No queue is paused." : "No organisation has a queue."}
        columns={queueColumns}
      />
    </Section>
  );
}

const queueColumns: readonly Column<Queue>[] = [
  { title: "Action", cell: (queue) => <QueueAction queue={queue} /> },
  {
    title: "Organisation",
    text: ({ orgId }) => orgId,
    cell: ({ orgId }) => <OrganisationLink org={orgId} />,
  },
  { title: "Not pulled", text: ({ queued }) => groupDigits(queued), align: "right" },
  { title: "Waiting", text: ({ waiting }) => groupDigits(String(waiting)), align: "right" },
  { title: "BLOCKED", text: ({ blocked }) => groupDigits(String(blocked)), align: "right" },
  { title: "Oldest since", text: ({ queuedSince }) => formatTime(queuedSince) },
  { title: "Paused", text: ({ pausedReason }) => pausedReason ?? "no" },
];

function QueueAction({ queue: { orgId, pausedReason } }: { queue: Queue }): ReactNode {
  if (pausedReason === undefined)
    return (
      <ActionButton
        method="wonrail.relayer.v1.RelayerAdminService/PauseQueue"
        label="Pause"
        isDangerous
        consequence={`Starts no new settlement of ${orgId}. Transactions under way continue; balances are not affected.`}
        request={() => ({ orgId })}
      />
    );
  return (
    <ActionButton
      method="wonrail.relayer.v1.RelayerAdminService/ResumeQueue"
      label="Resume"
      consequence={`Starts the settlement of ${orgId} again.`}
      request={() => ({ orgId })}
    />
  );
}

function OpenSection(): ReactNode {
  const [undecided, setUndecided] = useState(false);
  const [orgId, setOrgId] = useState("");
  return (
    <Section title="Open operations, oldest first">
      <div className="filters">
        <TextInput
          label="Organisation id"
          value={orgId}
          onChange={({ currentTarget }) => setOrgId(currentTarget.value.trim())}
        />
        <Checkbox
          size="sm"
          label="Needs an operator"
          checked={undecided}
          onChange={({ currentTarget }) => setUndecided(currentTarget.checked)}
        />
      </div>
      <PagedTable
        name="Open operations"
        method={OPEN}
        filters={[undecided, orgId]}
        refetchMs={REFETCH_MS}
        load={async (_, signal) => {
          const filter = { undecided, limit: 500, ...(orgId === "" ? {} : { orgId }) };
          const { operations } = await call(OPEN, filter, { signal });
          return { rows: operations };
        }}
        rowKey={({ ledgerRef }) => ledgerRef}
        empty="No operation waits."
        columns={openColumns}
      />
    </Section>
  );
}

const openColumns: readonly Column<OpenOperation>[] = [
  {
    title: "Ways out",
    text: ({ endings }) => endings.join(" "),
    cell: ({ ledgerRef, endings }) => <EndOperation ledgerRef={ledgerRef} endings={endings} />,
  },
  {
    title: "Operation",
    text: ({ ledgerRef }) => ledgerRef,
    cell: ({ ledgerRef }) => <OperationLink id={ledgerRef} />,
  },
  { title: "Kind", text: ({ kind }) => enumWords(kind, "INTENT_KIND_") },
  { title: "State", text: ({ state }) => state },
  { title: "Waits for", text: ({ waitReason }) => waitReason ?? "its turn" },
  { title: "Age", text: ({ ageSeconds }) => formatSeconds(ageSeconds), align: "right" },
  { title: "Attempts", text: ({ attempts }) => String(attempts), align: "right" },
  {
    title: "Transaction",
    text: ({ txHash }) => txHash ?? "",
    cell: ({ txHash }) => <span className="mono">{txHash ?? ""}</span>,
  },
  {
    title: "Organisation",
    text: ({ orgId }) => orgId,
    cell: ({ orgId }) => <OrganisationLink org={orgId} />,
  },
];

function BlockedTable(): ReactNode {
  return (
    <PagedTable
      name="Wallets on the blocklist"
      method={BLOCKED}
      load={async (_, signal) => {
        const { wallets } = await call(BLOCKED, { limit: 1_000 }, { signal });
        return { rows: wallets };
      }}
      rowKey={({ walletId }) => walletId}
      empty="No wallet is on the token's blocklist."
      columns={[
        {
          title: "Wallet",
          text: ({ walletId }) => walletId,
          cell: ({ walletId }) => <WalletLink walletId={walletId} />,
        },
        {
          title: "Organisation",
          text: ({ orgId }) => orgId,
          cell: ({ orgId }) => <OrganisationLink org={orgId} />,
        },
        { title: "Since block", text: ({ sinceBlock }) => sinceBlock, align: "right" },
        {
          title: "Frozen in the ledger",
          text: ({ frozen, refusal }) => (frozen ? "yes" : `no: ${refusal ?? "not yet"}`),
        },
        { title: "Waiting operations", text: ({ waiting }) => groupDigits(waiting), align: "right" },
      ]}
    />
  );
}
