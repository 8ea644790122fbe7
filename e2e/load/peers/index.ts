import { observed, type Result } from "../report";
import { closedLoop } from "../loop";
import { blnk } from "./blnk";
import { formance } from "./formance";
import type { OpenPeer } from "./peer";
import { pgledger } from "./pgledger";

const PEERS: Record<string, OpenPeer> = { formance, blnk, pgledger };
const ACCOUNTS = 1_000;
const CALLERS = 64;

/** Measures the running peers, given as name=URL. */
export async function measurePeers(given: string[], seconds: number, ourRate: number): Promise<Result[]> {
  const results: Result[] = [];
  for (const each of given) {
    const [name = "", ...rest] = each.split("=");
    const open = PEERS[name];
    if (!open) throw new Error(`--peer ${name}: known are ${Object.keys(PEERS).join(", ")}`);
    const peer = await open(rest.join("="), ACCOUNTS);
    const pick = () => Math.floor(Math.random() * ACCOUNTS);
    const work = async () => {
      const from = pick();
      await peer.transfer(from, (from + 1 + Math.floor(Math.random() * (ACCOUNTS - 1))) % ACCOUNTS);
    };
    const measured = await closedLoop({ callers: CALLERS, seconds, work });
    await peer.close();
    const note = `p50 ${measured.p50Ms.toFixed(1)} ms, p99 ${measured.p99Ms.toFixed(1)} ms, ${measured.failed} failed`;
    results.push(observed(`peer.${name}_rate`, measured.perSecond, "transfers/s", note));
    results.push(observed(`peer.vs_${name}`, ourRate / measured.perSecond, "×", "this engine, in process"));
  }
  return results;
}
