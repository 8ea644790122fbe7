import { readAddress } from "@wonrail/kit/contract/address";
import { Command, InvalidArgumentError, Option } from "commander";
import {
  bigNumber,
  type ClientConfig,
  jsonOption,
  limitOption,
  lines,
  openWorld,
  operatorMessage,
  organisationId,
  print,
  printProposal,
  readClientConfig,
  reasonOption,
  Refusal,
  runCommands,
  table,
  wholeNumber,
  withService,
  type ExitCode,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Operator } from "@wonrail/proto/common/v1/common";
import {
  type AcknowledgeDriftsRequest,
  OperationEnding,
  RelayerAdminServiceService,
  type SettlementQueue,
} from "@wonrail/proto/relayer/v1/admin";

// The operators' commands. They call the running service (adminRpc.ts).

type World = CommandWorld<ClientConfig>;

const SERVICE = "chain-relayer";

const EXAMPLES = `
Examples:
  $ npx wonrail operations list --stuck
  $ npx wonrail operation show pay_0192f0c1a2b37c4d8e5f60718293a4b5
  $ npx wonrail queue pause org_0192f0c1a2b37c4d8e5f60718293a4b5 --reason "asked to by the bank"
  $ npx wonrail drift list
  $ npx wonrail drift ack wal_0192f0c1a2b37c4d8e5f60718293a4b5 --reason "deposit explained"
  $ npx wonrail blocked list
  $ npx wonrail rescan --from 1200 --reason "a deposit is missing"
  $ npx wonrail manager adopt 0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0 --reason "new release"

Calls RELAYER_ADDRESS, or else the stack that "npm run up" started.`;

export function main(args: string[]): Promise<ExitCode> {
  return runAdmin(
    args,
    openWorld(() => readClientConfig("chain-relayer")),
  );
}

/** The commands that `wonrail` lists. */
export function listCommands(): readonly Command[] {
  return createProgram(openWorld(() => readClientConfig("chain-relayer"))).commands;
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
          orgId: options.org,
          limit: options.limit,
          undecided: false,
        };
        const { operations } = await withRelayer(world, (relayer, operator) =>
          relayer.listOpenOperations({ operator, ...wanted }),
        );
        const rows = operations.map(({ endings: _, ...rest }) => rest);
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
      const answer = await withRelayer(world, (relayer, operator) =>
        relayer.getOperationDetails({ operator, ref }),
      );
      const story = {
        operation: read(answer.operationJson),
        earlier: answer.earlierJson.map(read),
        transactions: answer.transactionsJson.map(read),
        authorizations: answer.authorizationsJson.map(read),
      };
      const parts = [story.earlier, story.transactions, story.authorizations].map((rows) => table(rows));
      const names = ["earlier on its wallets", "transactions", "authorizations"];
      const tables = parts.flatMap((part, index) => ["", `${names[index]}:`, ...part]);
      print(world, json, story, [...lines(story.operation), ...tables]);
    });
  return new Command("operation").description("one of them").addCommand(show).addCommand(endCommand(world));
}

function read(json: string): Record<string, unknown> {
  return JSON.parse(json) as Record<string, unknown>;
}

const ENDINGS = {
  settled: OperationEnding.SETTLED_ELSEWHERE,
  "give-up": OperationEnding.GIVE_UP,
  "sign-anew": OperationEnding.SIGN_ANEW,
  "read-again": OperationEnding.READ_AGAIN,
  "pass-over": OperationEnding.PASS_OVER,
};

interface EndOptions {
  by: keyof typeof ENDINGS;
  tx?: string;
  reason: string;
}

function endCommand(world: World): Command {
  return new Command("end")
    .description("propose to end an operation that waits: name_taken, custody_signed_otherwise, BLOCKED")
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
    .addOption(reasonOption())
    .action((ref: string, options: EndOptions) => end(world, ref, options));
}

async function end(world: World, ref: string, { by, tx, reason }: EndOptions): Promise<void> {
  if ((by === "settled") !== (tx !== undefined))
    throw new Refusal("Give --tx with --by settled, and only with it.");
  const request = { ledgerRef: ref, ending: ENDINGS[by], txHash: tx };
  const { proposal } = await withRelayer(
    world,
    (relayer, operator) => relayer.endOperation({ operator, ...request }),
    reason,
  );
  printProposal(world, SERVICE, proposal!);
}

function queue(world: World): Command {
  const list = new Command("list")
    .description("the queues of all organisations: paused or not, and how many entries are not pulled")
    .addOption(jsonOption())
    .action(async ({ json }: { json?: true }) => {
      const queues = await withRelayer(world, listAllQueues);
      const rows = queues.map(({ orgId, queued, pausedReason = null }) => ({ orgId, queued, pausedReason }));
      print(world, json, rows, table(rows));
    });
  const pause = new Command("pause")
    .description("start no new operations of an organisation; those under way continue")
    .argument("<org>", "its id", organisationId)
    .addOption(reasonOption())
    .action(async (orgId: string, { reason }: { reason: string }) => {
      await withRelayer(world, (relayer, operator) => relayer.pauseQueue({ operator, orgId }), reason);
      world.out(`The queue of ${orgId} is paused.\n`);
    });
  const resume = new Command("resume")
    .description("propose to start the operations of a paused organisation again")
    .argument("<org>", "its id", organisationId)
    .addOption(reasonOption())
    .action(async (orgId: string, { reason }: { reason: string }) => {
      const { proposal } = await withRelayer(
        world,
        (relayer, operator) => relayer.resumeQueue({ operator, orgId }),
        reason,
      );
      printProposal(world, SERVICE, proposal!);
    });
  return new Command("queue")
    .description("one for each organisation")
    .addCommand(list)
    .addCommand(pause)
    .addCommand(resume);
}

/** Queues of one call. */
const QUEUES_AT_ONCE = 1_000;

async function listAllQueues(relayer: RelayerAdmin, operator: Operator): Promise<SettlementQueue[]> {
  const queues: SettlementQueue[] = [];
  for (;;) {
    const afterOrgId = queues.at(-1)?.orgId;
    const page = await relayer.listQueues({ operator, afterOrgId, limit: QUEUES_AT_ONCE, pausedOnly: false });
    queues.push(...page.queues);
    if (page.queues.length < QUEUES_AT_ONCE) return queues;
  }
}

function drift(world: World): Command {
  const list = new Command("list")
    .description("differences between the chain, this service and the ledger, newest first")
    .option("--all", "those that were acknowledged, too")
    .addOption(limitOption(50, 10_000))
    .addOption(jsonOption())
    .action(async ({ all, limit, json }: { all?: true; limit: number; json?: true }) => {
      const { drifts } = await withRelayer(world, (relayer, operator) =>
        relayer.listDrifts({ operator, all: all === true, limit }),
      );
      const shown = drifts.map((drift) => ({
        ...drift,
        acknowledgedAt: drift.acknowledgedAt ?? null,
        difference: BigInt(drift.actual) - BigInt(drift.expected),
      }));
      print(world, json, shown, table(shown));
    });
  const acknowledge = new Command("ack")
    .description("propose to acknowledge a difference: the wallet's money may move again")
    .argument("[wallet]", "all that concerns this wallet")
    .addOption(new Option("--id <drift>", "one that concerns no wallet").argParser(bigNumber))
    .addOption(reasonOption())
    .action(async (walletId: string | undefined, { id, reason }: { id?: bigint; reason: string }) => {
      if ((walletId === undefined) === (id === undefined)) throw new Refusal("Give either a wallet or --id.");
      const which: AcknowledgeDriftsRequest["which"] =
        walletId === undefined ? { $case: "driftId", value: id! } : { $case: "walletId", value: walletId };
      const { proposal } = await withRelayer(
        world,
        (relayer, operator) => relayer.acknowledgeDrifts({ operator, which }),
        reason,
      );
      printProposal(world, SERVICE, proposal!);
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
      const { wallets } = await withRelayer(world, (relayer, operator) =>
        relayer.listBlockedWallets({ operator, limit }),
      );
      const rows = wallets.map(({ refusal = null, ...rest }) => ({ ...rest, refusal }));
      print(world, json, rows, table(rows));
    });
  return new Command("blocked").description("wallets that are blocked on the chain").addCommand(list);
}

function rescanFrom(world: World): Command {
  return new Command("rescan")
    .description("read final blocks again from a block on; not after final blocks were replaced")
    .requiredOption("--from <block>", "its number", bigNumber)
    .addOption(reasonOption())
    .action(async ({ from, reason }: { from: bigint; reason: string }) => {
      await withRelayer(
        world,
        (relayer, operator) => relayer.rescanBlocks({ operator, fromBlock: from }),
        reason,
      );
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
      const { addresses } = await withRelayer(world, (relayer, operator) =>
        relayer.listPaymentManagers({ operator }),
      );
      const rows = addresses.map((address) => ({ address }));
      print(world, json, rows, table(rows));
    });
  const adopt = new Command("adopt")
    .description("propose to settle through another payment manager, once the earlier ones cannot mint")
    .argument("<address>", "the contract's", chainAddress)
    .addOption(reasonOption())
    .action(async (address: string, { reason }: { reason: string }) => {
      const { proposal } = await withRelayer(
        world,
        (relayer, operator) => relayer.adoptPaymentManager({ operator, address }),
        reason,
      );
      printProposal(world, SERVICE, proposal!);
      world.out(
        "After the approval the service sends nothing new until you configure it: " +
          `set PAYMENT_MANAGER_ADDRESS to ${address} and restart the service.\n`,
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

type RelayerAdmin = PromiseClient<typeof RelayerAdminServiceService>;

function withRelayer<T>(
  world: World,
  work: (relayer: RelayerAdmin, operator: Operator) => Promise<T>,
  reason?: string,
): Promise<T> {
  const operator = operatorMessage(world, reason);
  return withService(world.config, "chain-relayer", RelayerAdminServiceService, (relayer) =>
    work(relayer, operator),
  );
}
