import { localHome, stackFileIn } from "@wonrail/kit/localStack";
import { readStackFile, type Stack } from "@wonrail/local/stackFile";

/** The running stack's description. */
export function readStack(home = localHome(process.env.WONRAIL_HOME)): Stack {
  const stack = readStackFile(stackFileIn(home));
  if (stack === undefined) throw new Error(`There is no running stack in ${home}. Start one with: make up`);
  return stack;
}
