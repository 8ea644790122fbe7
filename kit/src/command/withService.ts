import { readFileSync } from "node:fs";
import { type ServiceError, status } from "@grpc/grpc-js";
import { type Operator, OperatorRole } from "@wonrail/proto/common/v1/common";
import { childTraceparent, runInContext } from "../context";
import { DomainError, isNotExecuted, isOutcomeUnknown } from "../contract/errors";
import { newId } from "../contract/ids";
import { createClient, type PromiseClient, type TlsIdentity } from "../grpc/client";
import { type ServiceDefinition } from "../grpc/definition";
import { localHome, readLocalStack, stackFileIn } from "../localStack";
import { createLog } from "../log";
import { createRegistry } from "../metrics";
import { operatorName } from "../operator";
import { ADDRESS_VARIABLES, type ClientConfig, type ServiceName } from "./config";
import { CouldNotRun, Refusal } from "./runCommands";

const TIMEOUT_MS = 60_000;

/** Calls one service's admin RPCs for the work. Connection problems are reported in one sentence. */
export async function withService<D extends ServiceDefinition, T>(
  config: ClientConfig,
  service: ServiceName,
  definition: D,
  work: (client: PromiseClient<D>) => Promise<T>,
): Promise<T> {
  const { address, tls } = placeOf(config, service);
  const client = createClient(definition, {
    name: service,
    address,
    tls,
    log: createLog({ service: "admin", level: "silent" }),
    registry: createRegistry({ service: "admin", version: "0", commit: "0" }),
    defaultTimeoutMs: TIMEOUT_MS,
  });
  const context = { requestId: newId("req"), traceparent: childTraceparent() };
  try {
    return await runInContext(context, () => work(client));
  } catch (error) {
    throw problemOf(error, service, address) ?? error;
  } finally {
    client.close();
  }
}

/** The operator of a command. The holder of the CLI's certificate has every role. */
export function operatorMessage(
  { config, operator }: { config: Pick<ClientConfig, "USER">; operator?: string },
  reason = "",
): Operator {
  return { name: operator ?? operatorName(config), roles: [OperatorRole.ADMIN], reason };
}

/** Configuration takes precedence over the local stack. */
function placeOf(
  config: ClientConfig,
  service: ServiceName,
): { address: string; tls: TlsIdentity | undefined } {
  const given = config[ADDRESS_VARIABLES[service]];
  if (given !== undefined) return { address: given, tls: identityIn(config) };
  const home = localHome(config.WONRAIL_HOME);
  const stack = readLocalStack(home);
  const address = stack?.services?.[service]?.grpc;
  if (address === undefined)
    throw new CouldNotRun(
      `The address of ${service} is unknown: ${stackFileIn(home)} names none. ${remedyFor(service)}`,
    );
  const { cert, key, ca } = stack?.cli ?? {};
  const hasFiles = cert !== undefined && key !== undefined && ca !== undefined;
  return {
    address,
    tls: hasFiles ? { cert: readFileSync(cert), key: readFileSync(key), ca: readFileSync(ca) } : undefined,
  };
}

function identityIn({ TLS_CERT, TLS_KEY, TLS_CA }: ClientConfig): TlsIdentity | undefined {
  if (TLS_CERT === undefined || TLS_KEY === undefined || TLS_CA === undefined) return undefined;
  return { cert: Buffer.from(TLS_CERT), key: Buffer.from(TLS_KEY), ca: Buffer.from(TLS_CA) };
}

function problemOf(error: unknown, service: ServiceName, address: string): Refusal | undefined {
  if (!(error instanceof DomainError)) return undefined;
  const transport = statusIn(error);
  if (transport?.code === status.PERMISSION_DENIED) return new Refusal(transport.details);
  if (transport && isNotExecuted(error))
    return new CouldNotRun(`${service} at ${address} cannot be reached. ${remedyFor(service)}`);
  if (isNotExecuted(error))
    return new CouldNotRun(
      `${service} could not do it: its database or the chain does not answer. Nothing was changed: try again.`,
    );
  if (isOutcomeUnknown(error))
    return new CouldNotRun(
      `${service} at ${address} did not answer in time. The command may have been executed: look before you repeat it.`,
    );
  return undefined;
}

/** The transport's status; absent when the service answered with a code of the error table. */
function statusIn({ cause }: DomainError): ServiceError | undefined {
  const inner = cause instanceof Error ? cause.cause : undefined;
  return inner instanceof Error && "code" in inner ? (inner as ServiceError) : undefined;
}

function remedyFor(service: ServiceName): string {
  return `Start the stack with npm run up, or set ${ADDRESS_VARIABLES[service]}.`;
}
