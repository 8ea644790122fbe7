import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode } from "react";
import { useLive, useLiveAnswer } from "../api/live";
import { type AnswerOf, SERVICES } from "../api/services";
import { Chart } from "../blocks/chart";
import { Section } from "../blocks/section";
import { Empty, Loading } from "../blocks/states";
import { formatCount, formatWei, formatWon } from "../format/amounts";
import { formatAge, formatSeconds, formatTime } from "../format/times";
import { AlertsSection } from "./alertsSection";
import { booksAgree, type HomeState, mattersOf } from "./attention";
import { errorBudgetOf } from "./errorBudget";
import { useOpenProposals } from "./openProposals";

type Tone = "good" | "bad" | "waits" | undefined;

/** The state of money, settlement and books at one look. All numbers come from the live stream. */
export function Home(): ReactNode {
  const { at, monitoring } = useLive();
  const state = useHomeState();
  if (at === undefined || monitoring === undefined)
    return (
      <>
        <h1>Home</h1>
        <Loading what="the services' states" />
      </>
    );
  return (
    <>
      <h1>Home</h1>
      <Cards state={state} at={at} />
      <Matters state={state} />
      <AlertsSection monitoring={monitoring} at={at} />
      <Section title="Money moved in the last hour">
        <Chart name="Money moved per minute" unit="KRW" points={trafficPoints(state)} />
      </Section>
    </>
  );
}

function useHomeState(): HomeState {
  const { answers } = useLive();
  const deadLetters = SERVICES.map((service) => {
    const found = answers.find(
      (each) => each.service === service && each.method === "wonrail.common.v1.AdminService/ListDeadLetters",
    );
    const answer = found?.response as AnswerOf<"wonrail.common.v1.AdminService/ListDeadLetters"> | undefined;
    return { service, count: answer?.deadLetters.length ?? 0 };
  });
  const failed = answers.filter(({ error }) => error !== undefined);
  const silent = SERVICES.flatMap((service) => {
    const first = failed.find((each) => each.service === service);
    return first ? [{ service, code: first.error!.code }] : [];
  });
  return {
    ledger: useLiveAnswer("wonrail.ledger.v1.LedgerAdminService/GetOverview"),
    relayer: useLiveAnswer("wonrail.relayer.v1.RelayerAdminService/GetOverview"),
    payment: useLiveAnswer("wonrail.payment.v1.PaymentAdminService/GetOverview"),
    events: useLiveAnswer("wonrail.events.v1.EventsAdminService/GetOverview"),
    deadLetters,
    silent,
  };
}

function Cards({ state, at }: { state: HomeState; at: string }): ReactNode {
  const { ledger, payment, events } = state;
  const budget = errorBudgetOf(useLive().monitoring);
  const proposals = useOpenProposals();
  const waiting = events.answer?.dueDeliveries;
  return (
    <div className="cards">
      <Card
        to="/system"
        title="Money moving now"
        number={`${(ledger.answer?.minute?.entriesPerSecond ?? 0).toFixed(1)} entries/s`}
        more={`${formatWon(ledger.answer?.hour?.movedWon)} in the last hour`}
      />
      <SettlementCards state={state} at={at} />
      <Card
        to="/settlement"
        title="Transfers to outside addresses"
        number={formatCount(payment.answer?.pendingTransfers, "transfer")}
        more={waitOf(payment.answer?.pendingSince && formatAge(payment.answer.pendingSince, Date.parse(at)))}
      />
      <Card
        to="/dead-letters"
        title="Webhook deliveries due"
        number={formatCount(waiting, "delivery", "deliveries")}
        more={`${formatCount(events.answer?.failingWebhooks, "webhook")} failing`}
      />
      <Card
        to="/approvals"
        title="Waiting for approval"
        number={formatCount(proposals.length, "proposal")}
        more={proposals[0] === undefined ? "none is open" : `next ends ${formatTime(nextEnd(proposals))}`}
        tone={proposals.length > 0 ? "waits" : undefined}
      />
      <Card
        to="/system"
        title="Error budget of the API"
        number={budget.number}
        more={budget.more}
        tone={budget.tone}
      />
    </div>
  );
}

function SettlementCards({ state, at }: { state: HomeState; at: string }): ReactNode {
  const { answer } = state.relayer;
  const agree = booksAgree(state);
  const open = (answer?.open ?? []).reduce((sum, { operations }) => sum + operations, 0);
  const signer = answer?.signer;
  const comparedAge = formatAge(answer?.comparison?.finishedAt, Date.parse(at));
  return (
    <>
      <Card
        to="/settlement"
        title="Settlement queue"
        number={formatCount(answer && Number(answer.queued) + open, "operation")}
        more={waitOf(answer && answer.oldestSeconds > 0 ? formatSeconds(answer.oldestSeconds) : undefined)}
      />
      <Card
        to="/reconciliation"
        title="Books"
        number={agree === undefined ? "not compared yet" : agree ? "agree" : "differ"}
        more={`chain compared ${comparedAge} ago`}
        tone={agree === undefined ? "waits" : agree ? "good" : "bad"}
      />
      <Card
        to="/settlement"
        title="Gas left"
        number={
          signer?.lastsSeconds === undefined
            ? formatWei(signer?.balanceWei)
            : formatSeconds(signer.lastsSeconds)
        }
        more={signer?.lastsSeconds === undefined ? "nothing spent lately" : formatWei(signer.balanceWei)}
      />
    </>
  );
}

function waitOf(age: string | undefined): string {
  return age === undefined ? "none waits" : `the oldest waits for ${age}`;
}

function Card({
  to,
  title,
  number,
  more,
  tone,
}: {
  to: "/system" | "/settlement" | "/reconciliation" | "/dead-letters" | "/approvals";
  title: string;
  number: string;
  more: string;
  tone?: Tone;
}): ReactNode {
  return (
    <Link to={to} className="card" data-tone={tone}>
      <Text size="sm" className="quiet">
        {title}
      </Text>
      <div className="number">{number}</div>
      <Text size="sm" className="quiet">
        {more}
      </Text>
    </Link>
  );
}

function Matters({ state }: { state: HomeState }): ReactNode {
  const matters = mattersOf(state);
  return (
    <Section title="Needs an operator">
      {matters.length === 0 ? <Empty>Nothing needs an operator now.</Empty> : undefined}
      <ul className="plain">
        {matters.map(({ text, to, tone }) => (
          <li key={text}>
            <Link to={to} className="tone" data-tone={tone}>
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function trafficPoints({ ledger }: HomeState) {
  return (ledger.answer?.minutes ?? []).map(({ minute, movedWon }) => ({
    atMs: Date.parse(minute ?? ""),
    value: Number(movedWon),
  }));
}

function nextEnd(proposals: readonly { expiresAt?: string | undefined }[]): string | undefined {
  return proposals.map(({ expiresAt }) => expiresAt ?? "").sort()[0];
}
