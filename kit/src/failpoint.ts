import { setTimeout as sleep } from "node:timers/promises";

type Action = { kind: "kill" | "throw" | "hang" } | { kind: "delay"; delayMs: number };

/**
 * A place where a test may make the process die, fail, hang or wait:
 * `FAILPOINTS=ledger.committed:kill,relay.sent:delay=200`. Inactive outside of NODE_ENV=reltest.
 */
export async function failpoint(name: string): Promise<void> {
  const action = actions.get(name);
  if (action) await act(name, action);
}

async function act(name: string, action: Action): Promise<void> {
  switch (action.kind) {
    case "kill":
      process.kill(process.pid, "SIGKILL");
      return sleep(60_000);
    case "throw":
      throw new Error(`failpoint ${name}`);
    case "hang":
      return new Promise(() => undefined);
    case "delay":
      return sleep(action.delayMs);
  }
}

/** Exported for its test. */
export function parseFailpoints(text: string): Map<string, Action> {
  const parsed = new Map<string, Action>();
  for (const part of text.split(",").filter((entry) => entry !== "")) {
    const [, name, kind, delayMs] = /^([\w.]+):(kill|throw|hang|delay)(?:=(\d+))?$/.exec(part.trim()) ?? [];
    if (name === undefined || kind === undefined || (kind === "delay") !== (delayMs !== undefined)) {
      throw new Error(`FAILPOINTS: cannot read "${part}", expected name:kill, :throw, :hang or :delay=ms`);
    }
    parsed.set(name, kind === "delay" ? { kind, delayMs: Number(delayMs) } : { kind: kind as "kill" });
  }
  return parsed;
}

const actions =
  process.env.NODE_ENV === "reltest"
    ? parseFailpoints(process.env.FAILPOINTS ?? "")
    : new Map<string, Action>();
