import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DescMethod } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { pick, seeded } from "@wonrail/kit/testing/random";
import { type Home } from "@wonrail/local/home";
import { readText } from "../ops/repository";
import { type Estate, inParallel } from "./estate";
import { addFinding, countAnswer, newTally, type Tally } from "./finding";
import { type Known, makeMessage, readMethods } from "./messages";
import { type RunOptions } from "./runRest";
import { type Random } from "./values";

interface Target {
  method: DescMethod;
  /** The processes that serve it. */
  servers: string[];
  /** The callers of proto/callers.json. */
  callers: string[];
}

const AT_ONCE = 24;
const ANSWER_MS = 5_000;
const REPORT_EVERY = 5_000;
const DETAIL = "wonrail-error-bin";
const SERVICES = ["auth", "ledger", "wallet", "payment", "chain-relayer", "events"];
const CALLERS = ["gateway", "console", "cli", ...SERVICES];
/** Statuses of a fault of ours. Unavailable: a part of the system is down or too slow. */
const FAULTS = [status.UNKNOWN, status.INTERNAL, status.UNAVAILABLE, status.DATA_LOSS];
/** Statuses of the transport, which carry no code of ours. */
const OF_TRANSPORT = [
  status.PERMISSION_DENIED,
  status.UNIMPLEMENTED,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.RESOURCE_EXHAUSTED,
];

/** Sends requests made from the proto descriptors to each service, as each caller. */
export async function runGrpc(options: RunOptions & { home: Home }): Promise<Tally> {
  const { estates, cases, seed, endsAtMs, report, home, stack } = options;
  const targets = readTargets();
  const addressOf = (server: string) => stack.services[server]!.grpc!;
  const clients = openClients(home, addressOf);
  const tally = newTally();
  const send = async (index: number): Promise<void> => {
    if (Date.now() > endsAtMs) return;
    const random = seeded(seed * 1_000_003 + index);
    const { method, servers, callers } = targets[index % targets.length]!;
    const server = pick(random, servers);
    const caller = random() < 0.8 ? pick(random, callers).replace("self", server) : pick(random, CALLERS);
    const request = makeMessage(random, method, knownTo(random, estates));
    const path = `/${method.parent.typeName}/${method.name}`;
    const problem = await call(clients(caller, server), {
      path,
      request,
      isStream: method.methodKind !== "unary",
    });
    judge(tally, problem, `${caller} → ${server} ${path} ${request.toString("base64")}`);
    if (tally.cases % REPORT_EVERY === 0) report(`gRPC: ${tally.cases} cases`);
  };
  try {
    await inParallel(cases, send, AT_ONCE);
    return tally;
  } finally {
    clients.close();
  }
}

function readTargets(): Target[] {
  const table = JSON.parse(readText("proto/callers.json")) as Record<string, Record<string, string[]>>;
  return readMethods().map((method) => ({
    method,
    servers: serversOf(method.parent.typeName),
    callers: table[method.parent.typeName]![method.name]!,
  }));
}

/** wonrail.relayer.v1 is served by chain-relayer, wonrail.common.v1 by every service. */
function serversOf(service: string): string[] {
  const name = service.split(".")[1]!;
  if (name === "common") return SERVICES;
  return [name === "relayer" ? "chain-relayer" : name];
}

function knownTo(random: Random, [one, other]: readonly [Estate, Estate]): Known {
  const [own, foreign] = random() < 0.5 ? [one, other] : [other, one];
  return {
    ...{ own: own.ids, foreign: foreign.ids, addresses: own.addresses },
    orgIds: [own.orgId, foreign.orgId],
  };
}

interface Clients {
  (caller: string, server: string): Client;
  close(): void;
}

/** Opens a connection for each caller and server. Without mutual TLS all callers look the same. */
function openClients({ secretsDir }: Home, addressOf: (server: string) => string): Clients {
  const open = new Map<string, Client>();
  const fileOf = (name: string) => join(secretsDir, "tls", name);
  const identityOf = (caller: string) => {
    if (!existsSync(fileOf(`${caller}.crt`))) return credentials.createInsecure();
    const [ca, key, cert] = [".ca.crt", ".key", ".crt"].map((end) => readFileSync(fileOf(caller + end)));
    return credentials.createSsl(ca, key, cert);
  };
  const clientOf = (caller: string, server: string): Client => {
    const name = `${caller} ${server}`;
    const known = open.get(name);
    if (known) return known;
    const options = { "grpc.ssl_target_name_override": server, "grpc.enable_http_proxy": 0 };
    const client = new Client(addressOf(server), identityOf(caller), options);
    open.set(name, client);
    return client;
  };
  return Object.assign(clientOf, { close: () => open.forEach((client) => client.close()) });
}

interface Sent {
  path: string;
  request: Buffer;
  isStream: boolean;
}

const asIs = (bytes: Buffer) => bytes;

/** Undefined: the call was served. A stream is left after its first message. */
function call(client: Client, { path, request, isStream }: Sent): Promise<ServiceError | undefined> {
  const options = { deadline: Date.now() + ANSWER_MS };
  return new Promise((resolve) => {
    if (!isStream) {
      client.makeUnaryRequest(path, asIs, asIs, request, new Metadata(), options, (error) =>
        resolve(error ?? undefined),
      );
      return;
    }
    const stream = client.makeServerStreamRequest(path, asIs, asIs, request, new Metadata(), options);
    stream.on("data", () => {
      resolve(undefined);
      stream.cancel();
    });
    stream.on("end", () => resolve(undefined));
    stream.on("error", (error: ServiceError) => resolve(error));
  });
}

function judge(tally: Tally, problem: ServiceError | undefined, request: string): void {
  const code = problem?.code ?? status.OK;
  countAnswer(tally, status[code]);
  if (!problem) return;
  const found = { problem: `${status[code]} ${problem.details}`, request };
  if (FAULTS.includes(code)) return addFinding(tally, "serverErrors", found);
  const hasCode = problem.metadata.get(DETAIL).length > 0;
  if (!hasCode && !OF_TRANSPORT.includes(code)) addFinding(tally, "undocumented", found);
}
