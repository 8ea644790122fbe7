import { newId } from "@wonrail/kit/contract/ids";
import { answerTo, type Foreign, type Request, requestsFor } from "../money/foreignIds";
import { type Fixtures } from "../money/hostile";
import { type Api } from "../support/api";
import { ContractViolation } from "../support/contract";
import { type Estate, inParallel } from "./estate";

export interface PairFigures {
  ids: number;
  requests: number;
  /** Requests with an id of one organisation and the key of the other. */
  pairs: number;
  /** Pairs that are answered unlike an unknown id. */
  leaks: string[];
  /** Wallets of the owner that differ afterwards. */
  changed: number;
}

export interface PairOptions {
  estates: readonly [Estate, Estate];
  pairs: number;
  endsAtMs: number;
  report: (line: string) => void;
}

const AT_ONCE = 16;
const REPORT_EVERY = 5_000;

/**
 * Asks for each id of the first organisation with the second one's key, in every request of the
 * contract that takes an id of any kind. The answer must equal the one for an unknown id.
 */
export async function runPairs({ estates, pairs, endsAtMs, report }: PairOptions): Promise<PairFigures> {
  const [owner, stranger] = estates;
  const requests = requestsFor(fixturesOf(stranger)).map(([, make]) => make);
  const ids = Object.entries(owner.ids).flatMap(([kind, list]) => list.map((id) => ({ kind, id })));
  const absentAnswers = new Map<string, Promise<string>>();
  const before = await walletsOf(owner.api);
  const leaks: string[] = [];
  let asked = 0;

  const answerForAbsent = (place: number, kind: string): Promise<string> => {
    const absent = newId(kind as keyof Foreign);
    return answerOf(stranger.api, requests[place]!(absent), absent);
  };
  const ask = async (index: number): Promise<void> => {
    if (Date.now() > endsAtMs) return;
    const place = index % requests.length;
    const { kind, id } = ids[Math.floor(index / requests.length)]!;
    const key = `${place} ${kind}`;
    if (!absentAnswers.has(key)) absentAnswers.set(key, answerForAbsent(place, kind));
    const request = requests[place]!(id);
    const answer = await answerOf(stranger.api, request, id);
    asked += 1;
    if (asked % REPORT_EVERY === 0) report(`pairs: ${asked}`);
    if (answer === (await absentAnswers.get(key)) || answer === (await answerForAbsent(place, kind))) return;
    leaks.push(`${request.method} ${request.path}: ${answer}`);
  };
  await inParallel(Math.min(pairs, requests.length * ids.length), ask, AT_ONCE);
  const changed = differences(before, await walletsOf(owner.api));
  return { ids: ids.length, requests: requests.length, pairs: asked, leaks, changed };
}

/** An answer that the contract does not document is a finding, too. */
async function answerOf(api: Api, request: Request, id: string): Promise<string> {
  try {
    return await answerTo(api, request, id);
  } catch (error) {
    if (error instanceof ContractViolation) return error.message;
    throw error;
  }
}

/** The parts of the fixtures that requests with a foreign id need. */
function fixturesOf({ ids, addresses }: Estate): Fixtures {
  return { walletId: ids.wal[0], otherWalletId: ids.wal[1], otherAddress: addresses[1] } as Fixtures;
}

interface Wallet {
  walletId: string;
  status: string;
  metadata: object;
}

async function walletsOf(api: Api): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let cursor: string | null | undefined;
  do {
    const query = cursor == null ? "" : `&cursor=${cursor}`;
    const page = await api.get<{ items: Wallet[]; pagination: { nextCursor: string | null } }>(
      `/api/wallets?limit=100${query}`,
    );
    for (const { walletId, status, metadata } of page.items)
      found.set(walletId, JSON.stringify([status, metadata]));
    cursor = page.pagination.nextCursor;
  } while (cursor != null);
  return found;
}

function differences(before: Map<string, string>, after: Map<string, string>): number {
  return [...before].filter(([walletId, state]) => after.get(walletId) !== state).length;
}
