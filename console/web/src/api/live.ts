import { useSyncExternalStore } from "react";
import { signIn } from "./session";
import { type AnswerOf, type Method, type ServiceName } from "./services";

interface LiveError {
  code: string;
  message: string;
}

interface LiveAnswer {
  service: ServiceName;
  method: string;
  response?: unknown;
  error?: LiveError;
}

export interface FiringAlert {
  name: string;
  severity: string;
  summary: string;
  description: string;
  /** An address, or a path in the repository. */
  runbook: string;
  since: string;
}

/** The answer of Prometheus; console/server/src/monitoring.ts makes it. */
export type Monitoring =
  | { state: "not_connected" }
  | { state: "away"; url: string; problem: string }
  | { state: "connected"; alerts: readonly FiringAlert[]; errorRatio: number | null };

interface LiveState {
  /** False until the first state, and while the stream is interrupted. */
  connected: boolean;
  /** The time of the last state. */
  at?: string;
  answers: readonly LiveAnswer[];
  monitoring?: Monitoring;
}

let state: LiveState = { connected: false, answers: [] };
const listeners = new Set<() => void>();

/** Opens the stream of the services' states. EventSource reconnects by itself. */
export function startLive(): void {
  const source = new EventSource("/api/live");
  source.addEventListener("state", ({ data }: MessageEvent<string>) => {
    change({ connected: true, ...(JSON.parse(data) as Required<Omit<LiveState, "connected">>) });
  });
  source.addEventListener("error", () => change({ ...state, connected: false }));
  source.addEventListener("signed-out", () => {
    source.close();
    signIn();
  });
}

export function useLive(): LiveState {
  return useSyncExternalStore(subscribe, () => state);
}

export interface Live<T> {
  answer?: T;
  error?: LiveError;
}

/** The last polled answer of a method. The server decides which methods it polls. */
export function useLiveAnswer<M extends Method>(method: M, service?: ServiceName): Live<AnswerOf<M>> {
  const { answers } = useLive();
  const found = answers.find(
    (each) => each.method === method && (service === undefined || each.service === service),
  );
  return {
    ...(found?.response === undefined ? {} : { answer: found.response as AnswerOf<M> }),
    ...(found?.error === undefined ? {} : { error: found.error }),
  };
}

function change(next: LiveState): void {
  state = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
