import { type Live } from "../api/live";
import { type AnswerOf, type ServiceName } from "../api/services";
import { formatCount } from "../format/amounts";
import { formatSeconds } from "../format/times";

/** A matter for an operator, with the screen that shows more. */
export interface Matter {
  text: string;
  to: "/settlement" | "/reconciliation" | "/dead-letters" | "/system";
  tone: "bad" | "waits";
}

export interface HomeState {
  ledger: Live<AnswerOf<"wonrail.ledger.v1.LedgerAdminService/GetOverview">>;
  relayer: Live<AnswerOf<"wonrail.relayer.v1.RelayerAdminService/GetOverview">>;
  payment: Live<AnswerOf<"wonrail.payment.v1.PaymentAdminService/GetOverview">>;
  events: Live<AnswerOf<"wonrail.events.v1.EventsAdminService/GetOverview">>;
  deadLetters: readonly { service: ServiceName; count: number }[];
  /** Services with an error in the last poll. */
  silent: readonly { service: string; code: string }[];
}

const GAS_WARNING_SECONDS = 24 * 3600;
const QUEUE_WARNING_SECONDS = 10 * 60;
/** Unavailable, and no answer in time. */
const AWAY = ["SYS_002", "SYS_003"];

/** Everything that needs an operator, the worst first. */
export function mattersOf(state: HomeState): Matter[] {
  const matters = [
    ...silentServices(state),
    ...booksMatters(state),
    ...settlementMatters(state),
    ...deliveryMatters(state),
  ];
  return [...matters.filter(({ tone }) => tone === "bad"), ...matters.filter(({ tone }) => tone === "waits")];
}

/** Undefined until both sides are known. */
export function booksAgree({ ledger, relayer }: Pick<HomeState, "ledger" | "relayer">): boolean | undefined {
  const verifications = ledger.answer?.verifications;
  const comparison = relayer.answer?.comparison;
  if (!verifications?.length || comparison?.finishedAt === undefined) return undefined;
  return verifications.every(({ violations }) => violations === 0) && comparison.openDrifts.length === 0;
}

function silentServices({ silent }: HomeState): Matter[] {
  return silent.map(({ service, code }) => ({
    text: AWAY.includes(code)
      ? `${service} does not answer (${code})`
      : `${service} answers with the error ${code}: read its log`,
    to: "/system",
    tone: "bad",
  }));
}

function booksMatters({ ledger, relayer }: HomeState): Matter[] {
  const broken = (ledger.answer?.verifications ?? []).filter(({ violations }) => violations > 0);
  const drifts = relayer.answer?.comparison?.openDrifts ?? [];
  return [
    ...broken.map(({ scope, brokenInvariants }): Matter => ({
      text: `The verification of the ledger's ${scope} found broken invariants: ${brokenInvariants.join(", ")}`,
      to: "/reconciliation",
      tone: "bad",
    })),
    ...drifts.map(({ kind, drifts: count }): Matter => ({
      text: `${formatCount(count, "open drift")} of the kind ${kind}`,
      to: "/reconciliation",
      tone: "bad",
    })),
  ];
}

function settlementMatters({ relayer }: HomeState): Matter[] {
  const { answer } = relayer;
  if (answer === undefined) return [];
  const blocked = answer.open
    .filter(({ state }) => state === "BLOCKED")
    .reduce((sum, { operations }) => sum + operations, 0);
  const lastsSeconds = Number(answer.signer?.lastsSeconds ?? Infinity);
  const matters: (Matter | false)[] = [
    blocked > 0 && {
      text: `${formatCount(blocked, "operation")} BLOCKED: an operator must end each`,
      to: "/settlement",
      tone: "bad",
    },
    answer.oldestSeconds > QUEUE_WARNING_SECONDS && {
      text: `The oldest entry has waited for settlement for ${formatSeconds(answer.oldestSeconds)}`,
      to: "/settlement",
      tone: "waits",
    },
    answer.pausedQueues > 0 && {
      text: `${formatCount(answer.pausedQueues, "settlement queue")} paused by an operator`,
      to: "/settlement",
      tone: "waits",
    },
    lastsSeconds < GAS_WARNING_SECONDS && {
      text: `The signer's money for gas lasts ${formatSeconds(lastsSeconds)}`,
      to: "/settlement",
      tone: "bad",
    },
  ];
  return matters.filter((matter) => matter !== false);
}

function deliveryMatters({ events, deadLetters }: HomeState): Matter[] {
  const failing = events.answer?.failingWebhooks ?? 0;
  return [
    ...deadLetters
      .filter(({ count }) => count > 0)
      .map(({ service, count }): Matter => ({
        text: `${formatCount(count, "dead letter")} in ${service}`,
        to: "/dead-letters",
        tone: "bad",
      })),
    ...(failing === 0
      ? []
      : [
          { text: `${formatCount(failing, "webhook")} failing`, to: "/dead-letters", tone: "waits" } as const,
        ]),
  ];
}
