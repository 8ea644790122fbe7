import { setTimeout as sleep } from "node:timers/promises";
import { type Organisation, type WorldAccess } from "./access";
import { type Json } from "./operations";

const MAX_TRIES = 60;
const PAUSE_MS = 500;
const DEADLINE_MS = 20_000;
const PAGE = 100;

/** Answers that one organisation got from the public API. */
export interface PublicReads {
  /** All items of a list, by its path. */
  lists: Record<string, Json[]>;
  /** The data of an object by its path; null when the object does not exist. */
  objects: Record<string, Json>;
  /** All public events, oldest first. */
  events: PublicEvent[];
}

/** Reads the public API as one organisation. */
export interface Reader {
  /** The data of an answer; null when the object does not exist. */
  get(path: string): Promise<Json>;
  /** All items of a list. */
  list(path: string): Promise<Json[]>;
  /** All public events, oldest first. */
  events(): Promise<PublicEvent[]>;
}

export interface PublicEvent {
  eventId: string;
  type: string;
  sequence: number;
  objectId: string;
  objectSequence: number;
  createdAt: string;
  data: Json;
}

export function openReader(
  { gatewayUrls }: Pick<WorldAccess, "gatewayUrls">,
  { apiKey }: Organisation,
): Reader {
  const get = async (path: string): Promise<Json> => {
    for (let tries = 0; ; tries += 1) {
      const url = gatewayUrls[tries % gatewayUrls.length]! + path;
      const answer = await fetch(url, {
        headers: { "X-API-Key": apiKey },
        signal: AbortSignal.timeout(DEADLINE_MS),
      }).catch((error: unknown) => error as Error);
      if (!(answer instanceof Error)) {
        const body = (await answer.json()) as Json;
        if (answer.status === 200) return body.data;
        if (answer.status === 404) return null;
        if (answer.status !== 429 && answer.status < 500)
          throw new Error(`GET ${path} answered ${answer.status} ${JSON.stringify(body.error)}`);
      }
      if (tries >= MAX_TRIES) throw new Error(`GET ${path} had no success in ${MAX_TRIES} tries`);
      await sleep(PAUSE_MS);
    }
  };
  return {
    get,
    async list(path) {
      const items: Json[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const after = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
        const page: Json = await get(`${path}?limit=${PAGE}${after}`);
        items.push(...page.items);
        cursor = page.pagination.hasNext ? page.pagination.nextCursor : null;
      }
      return items;
    },
    async events() {
      const events: PublicEvent[] = [];
      for (let after = "0", hasNext = true; hasNext;) {
        const page: Json = await get(`/api/events?limit=${PAGE}&after=${after}`);
        events.push(...page.items);
        ({ nextAfter: after, hasNext } = page.pagination);
      }
      return events;
    },
  };
}
