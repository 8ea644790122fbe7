import { type ClientConfig, type ServiceName } from "../command/config";
import { runProposals } from "../command/proposalCommands";
import { recordTerminal } from "./recordTerminal";

/** Approves the newest open proposal of a service as a second operator. Returns the command's output. */
export async function approveNewest(
  service: ServiceName,
  config: ClientConfig,
  operator = "second",
): Promise<{ code: number; out: string; err: string }> {
  const run = async (...args: string[]) => {
    const { terminal, output } = recordTerminal();
    return { code: await runProposals(args, { config, ...terminal }), ...output };
  };
  const { out } = await run("list", "--service", service, "--limit", "1", "--json");
  const [newest] = JSON.parse(out) as { proposalId: string }[];
  if (newest === undefined) throw new Error(`${service} has no open proposal`);
  const who = ["--operator", operator, "--reason", "seen by a second operator"];
  return run("approve", newest.proposalId, "--service", service, ...who);
}
