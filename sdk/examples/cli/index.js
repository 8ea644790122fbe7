#!/usr/bin/env node
import { parseArgs } from "node:util";
import { create } from "./commands/create.js";
import { fund } from "./commands/fund.js";
import { get } from "./commands/get.js";
import { keygen } from "./commands/keygen.js";
import { list } from "./commands/list.js";
import { schedule } from "./commands/schedule.js";
import { send } from "./commands/send.js";
import { status } from "./commands/status.js";
import { wait } from "./commands/wait.js";
import { exitCodeOf, UsageError } from "./support/failures.js";
import { createOutput } from "./support/output.js";
import { readSettings } from "./support/settings.js";

const commands = { create, get, list, status, schedule, wait, send, fund, keygen };

const shared = {
  json: { type: "boolean", help: "print JSON and nothing else" },
  help: { type: "boolean", short: "h", help: "show this" },
};

const controller = new AbortController();
process.once("SIGINT", () => controller.abort(new Error("interrupted")));
// A closed pipe, as with head, does not end the work or change the exit code.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error) => {
    if (error.code !== "EPIPE") throw error;
  });
process.exitCode = await main(process.argv.slice(2));

async function main([name, ...args]) {
  const output = createOutput({ json: args.includes("--json") });
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  try {
    if (!command) {
      output.help(usage());
      if (name === undefined || name === "--help" || name === "-h" || name === "help") return 0;
      throw new UsageError(`There is no command ${name}.`);
    }
    const { values, positionals } = parse(args, { ...command.options, ...shared });
    if (values.help) return output.help(usageOf(name, command));
    if (positionals.length !== command.takes.length)
      throw new UsageError(`Usage: ${name} ${command.takes.join(" ")}`.trimEnd());
    await command.run({ values, positionals, settings: readSettings(), output, signal: controller.signal });
    return 0;
  } catch (error) {
    output.failure(error);
    return controller.signal.aborted ? 130 : exitCodeOf(error);
  }
}

function parse(args, options) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error.message);
  }
}

function usage() {
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(9)} ${summary}`);
  return `Records transactions and follows them.

Usage: node index.js <command> [options]

${lines.join("\n")}

  node index.js <command> --help   its options and examples

An id may be \`last\`: the newest record. Settings: .env (see .env.example), or the stack.json of a running \`make up\`.
For another network than the test network: NETWORK_TYPE, CHAIN_ID, RPC_URL and TOKEN_ADDRESS. send and fund work on that chain only.
Exit codes: 0 done, 1 refused, 2 used wrongly, 3 not reached, 4 not in time, 5 perhaps done, 130 interrupted.`;
}

function usageOf(name, { summary, takes, options, examples }) {
  const lines = Object.entries({ ...options, ...shared }).map(
    ([option, { help, type }]) => `  --${`${option}${type === "string" ? " …" : ""}`.padEnd(18)} ${help}`,
  );
  const lead = [name, ...takes].join(" ");
  const shown = examples.map((example) => `  node index.js ${example}`);
  return `${summary}\n\nUsage: node index.js ${lead} [options]\n\n${lines.join("\n")}\n\nExamples:\n${shown.join("\n")}`;
}
