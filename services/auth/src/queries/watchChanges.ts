import { type Database, type Listener } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { listenForChanges, type Change } from "../store/changes";

/**
 * A message to a watcher. "started" means: earlier knowledge may be stale, and later changes are
 * not missed.
 */
export type Word = { kind: "started" } | { kind: "heartbeat" } | Change;

export const HEARTBEAT_MS = 2_000;
/** With this many unread changes a watcher gets one reload instead of its queue. */
const MAX_UNREAD = 1_000;

export interface ChangeFeed {
  watch(signal: AbortSignal): AsyncIterable<Word>;
  readonly watchers: number;
  /** Ends every watch, so that the watchers connect to another replica. */
  endWatches(): void;
  close(): Promise<void>;
}

/** The process shares one LISTEN connection among all watchers. */
export async function openChangeFeed(db: Database, log: Log): Promise<ChangeFeed> {
  const watchers = new Set<Watcher>();
  const tell = (word: Word) => watchers.forEach((watcher) => watcher.tell(word));
  const listener: Listener = await listenForChanges(db, {
    onChange: tell,
    onGap: () => {
      if (watchers.size > 0)
        log.info({ watchers: watchers.size }, "changes may have been missed; watchers reload");
      tell({ kind: "started" });
    },
  });
  let ended = false;
  const endWatches = () => {
    ended = true;
    watchers.forEach((watcher) => watcher.end());
  };
  const heartbeat = setInterval(() => tell({ kind: "heartbeat" }), HEARTBEAT_MS);

  return {
    async *watch(signal) {
      // A watcher that reconnects while the process drains must find another replica.
      if (ended) return;
      const watcher = new Watcher();
      watchers.add(watcher);
      try {
        watcher.tell({ kind: "started" });
        yield* watcher.words(signal);
      } finally {
        watchers.delete(watcher);
      }
    },
    get watchers() {
      return watchers.size;
    },
    endWatches,
    async close() {
      clearInterval(heartbeat);
      endWatches();
      await listener.close();
    },
  };
}

/** A bounded queue between the listener, which never waits, and one stream, which may be slow. */
class Watcher {
  private unread: Word[] = [];
  private ended = false;
  private wake: () => void = () => undefined;

  tell(word: Word): void {
    if (this.unread.length >= MAX_UNREAD) this.unread = [{ kind: "started" }];
    this.unread.push(word);
    this.wake();
  }

  end(): void {
    this.ended = true;
    this.wake();
  }

  async *words(signal: AbortSignal): AsyncIterable<Word> {
    const wake = () => this.wake();
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted && !this.ended) {
        const words = this.unread;
        this.unread = [];
        yield* words;
        if (this.unread.length === 0 && !signal.aborted && !this.ended) {
          await new Promise<void>((resolve) => (this.wake = resolve));
        }
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }
}
