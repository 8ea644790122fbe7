import { type Database } from "@wonrail/kit/db";
import { CHANNEL, notify } from "./store/bell";

/** Rings of this time are one notification. */
const GATHER_MS = 10;
/** PostgreSQL refuses a payload of 8,000 bytes. */
const MAX_PAYLOAD_CHARACTERS = 7_000;

/** Wakes the callers that wait for events of an organisation, in every replica. */
export interface Bell {
  /** A wait for new events of the organisation, from now on. */
  begin(orgId: string, timeoutMs: number): Wait;
  /** Calls back whenever an organisation has new events. */
  subscribe(listener: () => void): void;
  /** Ends every wait, now and from now on. */
  endWaits(): void;
  readonly isEnded: boolean;
  close(): Promise<void>;
}

export interface Wait {
  /** Resolves when the organisation has new events, the time is over, the wait is cancelled, or the process stops. */
  over: Promise<void>;
  cancel(): void;
}

const gathering = new WeakMap<Database, Set<string>>();

/** Call it after the commit. A notification that gets lost only delays the waiting callers. */
export function ring(db: Database, orgIds: string[]): void {
  const gathered = gathering.get(db);
  if (gathered) return orgIds.forEach((orgId) => gathered.add(orgId));
  const first = new Set(orgIds);
  gathering.set(db, first);
  setTimeout(() => {
    gathering.delete(db);
    const payload = [...first].join(",");
    notify(db, payload.length > MAX_PAYLOAD_CHARACTERS ? "" : payload).catch(() => undefined);
  }, GATHER_MS).unref();
}

export async function openBell(db: Database): Promise<Bell> {
  const waits = new Map<string, Set<Wait>>();
  const subscribers: (() => void)[] = [];
  let isEnded = false;
  const endAll = (ofOne: Set<Wait> | undefined): void => ofOne?.forEach((wait) => wait.cancel());
  const listener = await db.listen(CHANNEL, (payload) => {
    for (const tell of subscribers) tell();
    if (payload === "") return waits.forEach(endAll);
    for (const orgId of payload.split(",")) endAll(waits.get(orgId));
  });

  function endWaits(): void {
    isEnded = true;
    waits.forEach(endAll);
  }

  return {
    get isEnded() {
      return isEnded;
    },
    begin(orgId, timeoutMs) {
      const ofOne = waits.get(orgId) ?? new Set();
      const wait = startWait(timeoutMs, () => {
        ofOne.delete(wait);
        if (ofOne.size === 0) waits.delete(orgId);
      });
      waits.set(orgId, ofOne.add(wait));
      if (isEnded) wait.cancel();
      return wait;
    },
    subscribe: (listener) => void subscribers.push(listener),
    endWaits,
    async close() {
      endWaits();
      await listener.close();
    },
  };
}

function startWait(timeoutMs: number, onEnd: () => void): Wait {
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const timer = setTimeout(cancel, timeoutMs);
  function cancel(): void {
    clearTimeout(timer);
    onEnd();
    end();
  }
  return { over, cancel };
}
