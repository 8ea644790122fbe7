import { readAddress } from "@wonrail/kit/contract/address";
import { Command, InvalidArgumentError, Option } from "commander";
import {
  bigNumber,
  CouldNotRun,
  jsonOption,
  limitOption,
  lines,
  openWorld,
  organisationId,
  print,
  Refusal,
  runCommands,
  table,
  wholeNumber,
  withDatabase,
  type ExitCode,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { type Database } from "@wonrail/kit/db";
import { localHome, readLocalStack, type LocalStack } from "@wonrail/kit/localStack";
import { createLog } from "@wonrail/kit/log";
import { createRegistry } from "@wonrail/kit/metrics";
import { operatorOf } from "@wonrail/kit/operator";
import { connectChain, type Provider, RpcUnanswered } from "./evm";
import {
  type Adoption,
  adoptPaymentManager,
  type Decision,
  type Ending,
  endOperation,
  findOperationDetails,
  listBlockedWallets,
  listQueues,
  listStuckOperations,
  setQueuePause,
} from "./settlement";
import { listPaymentManagers, rescan } from "./indexer";
import { type AdminConfig, readAdminConfig } from "./config";
import { acknowledgeDrifts, listDrifts } from "./reconciliation";

// The operators' commands. They work on the database that all replicas share.

type World = CommandWorld<AdminConfig>;

const EXAMPLES = `
Examples:
  $ npx wonrail operations list --stuck
  $ npx wonrail operation show pay_0192f0c1a2b37c4d8e5f60718293a4b5
  $ npx wonrail queue pause org_0192f0c1a2b37c4d8e5f60718293a4b5 --reason "asked to by the bank"
  $ npx wonrail drift list
  $ npx wonrail drift ack wal_0192f0c1a2b37c4d8e5f60718293a4b5
  $ npx wonrail blocked list
  $ npx wonrail rescan --from 1200
  $ npx wonrail manager adopt 0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0

Works on DATABASE_URL, CHAIN_RPC_URLS and CHAIN_ID, or else on the stack that "npm run up" started.`;

const NO_OPERATION =
  "There is no such operation. An entry becomes one when its queue has room: see queue list.";
const NO_QUEUE = "There is no such queue. An organisation gets its queue with its first entry.";

export function main(args: string[]): Promise<ExitCode> {
  return runAdmin(args, openWorld(readAdminConfig));
}

/** The commands that `wonrail` lists. */
export function listCommands(): readonly Command[] {
  return createProgram(openWorld(readAdminConfig)).commands;
}

export function runAdmin(args: string[], world: World): Promise<ExitCode> {
  return runCommands(createProgram(world), args, world);
}

function createProgram(world: World): Command {
  const program = new Command("wonrail")
    .description(
      "Settlement on the chain: what is stuck and why, queues, differences between the chain, this service and the ledger.",
    )
    .addHelpText("after", EXAMPLES);
  const groups = [
    operations(world),
    operation(world),
    queue(world),
    drift(world),
    blocked(world),
    rescanFrom(world),
    manager(world),
  ];
  for (const group of groups) program.addCommand(group);
  return program;
}

function operations(world: World): Command {
  const list = new Command("list")
    .description("operations that are not final, oldest first, with the reason why each waits")
    .option("--stuck", "only those that are older than settling should take")
    .addOption(new Option("--older-than <seconds>", "with --stuck").default(60).argParser(wholeNumber))
    .option("--org <id>", "of one organisation", organisationId)
    .addOption(limitOption(50, 10_000))
    .addOption(jsonOption())
    .action(
      async (options: { stuck?: true; olderThan: number; org?: string; limit: number; json?: true }) => {
        const wanted = {
          olderThanSeconds: options.stuck ? options.olderThan : 0,
          orgId: options.org ?? null,
          limit: options.limit,
        };
        const found = await inRelayer(world, (db) => listStuckOperations(db, wanted));
        const rows = found.map((row) => ({ ...row, ageSeconds: Math.round(row.ageSeconds) }));
        print(world, options.json, rows, table(rows));
      },
    );
  return new Command("operations").description("operations that are not settled yet").addCommand(list);
}

function operation(world: World): Command {
  const show = new Command("show")
    .description("one operation with its steps, the operations before it, its attempts and its proof")
    .argument("<ref>", "the id of the ledger entry or hold, or the operation's id on the chain")
    .addOption(jsonOption())
    .action(async (ref: string, { json }: { json?: true }) => {
      const story = await inRelayer(world, (db) => findOperationDetails(db, ref));
      if (!story) throw new Refusal(NO_OPERATION);
      const parts = [story.earlier, story.transactions, story.authorizations].map((rows) => table(rows));
      const names = ["earlier on its wallets", "transactions", "authorizations"];
      const tables = parts.flatMap((part, index) => ["", `${names[index]}:`, ...part]);
      print(world, json, story, [...lines(story.operation), ...tables]);
    });
  return new Command("operation").description("one of them").addCommand(show).addCommand(endCommand(world));
}

const ENDINGS: Record<string, Decision> = {
  settled: "settled_elsewhere",
  "give-up": "give_up",
  "sign-anew": "sign_anew",
  "read-again": "read_again",
  "pass-over": "pass_over",
};

interface EndOptions {
  by: keyof typeof ENDINGS;
  tx?: string;
  reason: string;
  confirm?: string;
}

function endCommand(world: World): Command {
  return new Command("end")
    .description("end an operation that waits for an operator: name_taken, custody_signed_otherwise, BLOCKED")
    .argument("<ref>", "the id of the ledger entry or hold")
    .addOption(
      new Option(
        "--by <way>",
        "settled: a transaction has moved it. give-up: re-credit a hold. sign-anew: send it under another name. " +
          "read-again, pass-over: of a BLOCKED entry",
      )
        .choices(Object.keys(ENDINGS))
        .makeOptionMandatory(),
    )
    .option("--tx <hash>", "with --by settled: the final transaction that proves it")
    .requiredOption("--reason <text>", "why, for the record")
    .option("--confirm <ref>", "the same id once more: without it nothing is done")
    .action((ref: string, options: EndOptions) => end(world, ref, options));
}

async function end(world: World, ref: string, { by, tx, reason, confirm }: EndOptions): Promise<void> {
  if ((by === "settled") !== (tx !== undefined))
    throw new Refusal("Give --tx with --by settled, and only with it.");
  if (reason.trim() === "") throw new Refusal("Give a reason with --reason.");
  if (confirm !== ref)
    throw new Refusal(`Nothing was done. To end ${ref} by "${by}", run this again with --confirm ${ref}.`);
  const txHash = tx?.toLowerCase() ?? null;
  const decision = { decision: ENDINGS[by]!, reason, txHash, decidedBy: operatorOf(world.config) };
  const ending = await inRelayer(world, (db) =>
    endOperation({ db, provider: openProvider(world), network: world.config.NETWORK }, ref, decision),
  ).catch(unanswered);
  if (ending !== "done") throw new Refusal(NOT_ENDED[ending]);
  world.out(`${ref} is ended by "${by}".\n`);
}

const NOT_ENDED: Record<Exclude<Ending, "done">, string> = {
  another_way:
    "Use read-again or pass-over for a BLOCKED entry, and the other ways for all other operations.",
  not_at_a_dead_end: "This operation does not wait for an operator. See: operation show.",
  only_a_hold_is_given_up:
    "Only a hold can be given up: the ledger has already moved the money of an entry. Use settled or sign-anew.",
  custody_signs_no_other:
    "Custody has signed another authorization for this operation and never signs a second one. Use settled, or give-up for a hold.",
  no_proof:
    "The transaction is no proof: it must be final and indexed, have moved exactly the operation's " +
    "steps, and have settled no other operation.",
};

function queue(world: World): Command {
  const list = new Command("list")
    .description("the queues of all organisations: paused or not, and how many entries are not pulled")
    .addOption(jsonOption())
    .action(async ({ json }: { json?: true }) => {
      const rows = await inRelayer(world, listQueues);
      print(world, json, rows, table(rows));
    });
  const pause = new Command("pause")
    .description("start no new operations of an organisation; those under way continue")
    .argument("<org>", "its id", organisationId)
    .requiredOption("--reason <text>", "why, for the record")
    .action(async (orgId: string, { reason }: { reason: string }) => {
      const why = `${reason} (${operatorOf(world.config)})`;
      const known = await inRelayer(world, (db) => setQueuePause(db, orgId, why));
      if (!known) throw new Refusal(NO_QUEUE);
      world.out(`The queue of ${orgId} is paused.\n`);
    });
  const resume = new Command("resume")
    .description("start the operations of a paused organisation again")
    .argument("<org>", "its id", organisationId)
    .action(async (orgId: string) => {
      const known = await inRelayer(world, (db) => setQueuePause(db, orgId, null));
      if (!known) throw new Refusal(NO_QUEUE);
      world.out(`The queue of ${orgId} is resumed.\n`);
    });
  return new Command("queue")
    .description("one for each organisation")
    .addCommand(list)
    .addCommand(pause)
    .addCommand(resume);
}

function drift(world: World): Command {
  const list = new Command("list")
    .description("differences between the chain, this service and the ledger, newest first")
    .option("--all", "those that were acknowledged, too")
    .addOption(limitOption(50, 10_000))
    .addOption(jsonOption())
    .action(async ({ all, limit, json }: { all?: true; limit: number; json?: true }) => {
      const rows = await inRelayer(world, (db) => listDrifts(db, { all: all === true, limit }));
      const shown = rows.map((row) => ({ ...row, difference: row.actual - row.expected }));
      print(world, json, shown, table(shown));
    });
  const acknowledge = new Command("ack")
    .description("acknowledge a difference after an examination: the wallet's money may move again")
    .argument("[wallet]", "all that concerns this wallet")
    .addOption(new Option("--id <drift>", "one that concerns no wallet").argParser(bigNumber))
    .action(async (walletId: string | undefined, { id }: { id?: bigint }) => {
      if ((walletId === undefined) === (id === undefined)) throw new Refusal("Give either a wallet or --id.");
      const which = walletId === undefined ? { driftId: id! } : { walletId };
      const count = await inRelayer(world, (db) => acknowledgeDrifts(db, which, operatorOf(world.config)));
      if (count === 0) throw new Refusal("No such drift waits for an acknowledgement.");
      world.out(`${count} acknowledged.\n`);
    });
  return new Command("drift")
    .description("differences between the chain, this service and the ledger")
    .addCommand(list)
    .addCommand(acknowledge);
}

function blocked(world: World): Command {
  const list = new Command("list")
    .description(
      "wallets on the token's blocklist, whether the ledger froze them, and how many operations wait",
    )
    .addOption(limitOption(50, 10_000))
    .addOption(jsonOption())
    .action(async ({ limit, json }: { limit: number; json?: true }) => {
      const rows = await inRelayer(world, (db) => listBlockedWallets(db, limit));
      print(world, json, rows, table(rows));
    });
  return new Command("blocked").description("wallets that are blocked on the chain").addCommand(list);
}

function rescanFrom(world: World): Command {
  return new Command("rescan")
    .description("read final blocks again from a block on; not after final blocks were replaced")
    .requiredOption("--from <block>", "its number", bigNumber)
    .action(async ({ from }: { from: bigint }) => {
      if (from < 1n) throw new Refusal("The first block that can be read again is 1.");
      const outcome = await inRelayer(world, (db) =>
        rescan({ db, provider: openProvider(world) }, from),
      ).catch(unanswered);
      if (outcome === "no_such_block") throw new Refusal(`The chain has no block ${from - 1n}.`);
      if (outcome === "not_ingested_yet") throw new Refusal(`Block ${from} has not been ingested yet.`);
      if (outcome !== "rewound") throw new Refusal(replacedAt(outcome.replacedAt));
      world.out(
        `The service reads every final block from ${from} on again. Until it has reached the newest one, ` +
          "no operation becomes final here, " +
          "and wallets are not compared with the chain.\n",
      );
    });
}

function manager(world: World): Command {
  const list = new Command("list")
    .description("payment managers that operations were settled through; the last one is in use")
    .addOption(jsonOption())
    .action(async ({ json }: { json?: true }) => {
      const rows = (await inRelayer(world, listPaymentManagers)).map((address) => ({ address }));
      print(world, json, rows, table(rows));
    });
  const adopt = new Command("adopt")
    .description("settle through another payment manager, once the earlier ones can mint nothing more")
    .argument("<address>", "the contract's", chainAddress)
    .action(async (address: string) => {
      const outcome = await inRelayer(world, (db) =>
        adoptPaymentManager({ db, provider: openProvider(world) }, address),
      ).catch(unanswered);
      if (outcome !== "adopted") throw new Refusal(notAdopted(address, outcome));
      world.out(
        `Operations are settled through ${address}. The service sends nothing new until you configure it: ` +
          "set PAYMENT_MANAGER_ADDRESS to this address and restart the service.\n",
      );
    });
  return new Command("manager")
    .description("the contract that operations are settled through")
    .addCommand(list)
    .addCommand(adopt);
}

function chainAddress(text: string): string {
  const address = readAddress(text);
  if (address === null) throw new InvalidArgumentError("It must be an address.");
  return address;
}

function notAdopted(address: string, outcome: Exclude<Adoption, "adopted">): string {
  switch (outcome) {
    case "in_use":
      return `${address} is in use.`;
    case "nothing_ingested":
      return "The service has not ingested a block yet.";
    case "rescanning":
      return "A rescan is under way. Try again when it has ended.";
    case "not_of_our_token":
      return `At the last ingested block, ${address} was not a payment manager of the token.`;
    case "changed_meanwhile":
      return "Another payment manager was adopted meanwhile.";
    default:
      return (
        `At block ${outcome.blockNumber}, the last indexed one, ${outcome.stillMints} could still mint: ` +
        "an operation might be minted twice. Set its mint allowance to 0, and try again when that " +
        "change is final and indexed."
      );
  }
}

function unanswered(error: unknown): never {
  throw error instanceof RpcUnanswered ? new CouldNotRun(error.message) : error;
}

function replacedAt(block: bigint): string {
  return (
    `Block ${block}, the last ingested one, is not the block that was final: final blocks were replaced. ` +
    "rescan would credit the deposits in these blocks a second time. See docs/runbooks/FinalBlockReplaced.md."
  );
}

function inRelayer<T>({ config }: World, work: (db: Database) => Promise<T>): Promise<T> {
  return withDatabase(config, "chain-relayer", work);
}

function openProvider({ config }: World): Provider {
  const chain = readStack(config)?.chain;
  const ofStack = chain?.rpcUrl ? [chain.rpcUrl] : [];
  const urls = config.CHAIN_RPC_URLS.length > 0 ? config.CHAIN_RPC_URLS : ofStack;
  const chainId = config.CHAIN_ID ?? chain?.chainId;
  if (urls.length === 0 || chainId === undefined)
    throw new CouldNotRun("There is no chain. Start the stack, or set CHAIN_RPC_URLS and CHAIN_ID.");
  const registry = createRegistry({ service: "admin", version: "0", commit: "0" });
  const log = createLog({ service: "admin", level: "silent" });
  const options = { timeoutMs: 5_000, finality: "finalized", log, registry } as const;
  return connectChain({ urls, chainId: BigInt(chainId), ...options });
}

function readStack({ WONRAIL_HOME }: AdminConfig): LocalStack | undefined {
  return readLocalStack(localHome(WONRAIL_HOME));
}
