import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Arrival, type Command, type Report } from "./receiver";

const LOOK_MS = 20;

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export async function startReceiver() {
  const child = fork(join(__dirname, "receiver.ts"));
  const [first] = (await once(child, "message")) as [Report];
  const { url } = first as { url: string };

  /** Returns the arrivals since the last command. */
  async function send(command: Command): Promise<Arrival[]> {
    const answered = once(child, "message") as Promise<[Report]>;
    child.send(command);
    const [report] = await answered;
    return (report as { arrivals: Arrival[] }).arrivals;
  }

  return {
    url,
    take: () => send("take"),
    hang: (hangEvery: number) => send({ hangEvery }),
    /** Takes arrivals until there are so many. */
    async until(count: number, isWanted: (arrival: Arrival) => boolean = () => true): Promise<Arrival[]> {
      const taken: Arrival[] = [];
      for (; taken.length < count; await sleep(LOOK_MS)) taken.push(...(await send("take")).filter(isWanted));
      return taken;
    },
    close: () => void child.disconnect(),
  };
}
