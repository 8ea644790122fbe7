import { execFile } from "node:child_process";
import { join } from "node:path";
import { type Json } from "../support/api";
import { ROOT } from "../ops/repository";
import { type TestStack } from "../support/startStack";

const WONRAIL = join(ROOT, "deploy/local/bin/wonrail.mjs");

export interface Ended {
  code: number;
  out: string;
  err: string;
}

/** Runs `npx wonrail` on the stack. */
export function wonrail({ home }: TestStack, ...args: string[]): Promise<Ended> {
  const env = { ...process.env, WONRAIL_HOME: home.dir };
  return new Promise((resolve) => {
    execFile(process.execPath, [WONRAIL, ...args], { env }, (error, out, err) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, out, err });
    });
  });
}

/** The JSON that a command prints. A check that failed prints it too. */
export async function wonrailJson(stack: TestStack, ...args: string[]): Promise<Json> {
  const { out, err } = await wonrail(stack, ...args, "--json");
  if (out === "") throw new Error(err);
  return JSON.parse(out);
}

/** Proposes an action and has a second operator approve it. Returns the command's own outcome. */
export async function proposeAndApprove(stack: TestStack, ...args: string[]): Promise<Ended> {
  const proposed = await wonrail(stack, ...args, "--reason", "rehearsal", "--operator", "first");
  const [, proposal] = /proposal approve (prp_[0-9a-f]{32})/.exec(proposed.out) ?? [];
  if (proposal === undefined) return proposed;
  const service = ["--service", "chain-relayer"];
  const decision = [...service, "--reason", "rehearsal", "--operator", "second"];
  return wonrail(stack, "proposal", "approve", proposal, ...decision);
}
