import { readFileSync } from "node:fs";
import {
  createFileRegistry,
  type DescMethod,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import {
  type AdminRule,
  MAX_REASON_LENGTH,
  mayUse,
  OPERATOR_ROLES,
  readAdminRules,
  type RoleName,
} from "@wonrail/kit/admin";
import { ADDRESS_VARIABLES, type ServiceName } from "@wonrail/kit/command/config";
import { asNotExecuted, DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { createClient, type MethodDefinition, type TlsIdentity } from "@wonrail/kit/grpc/client";
import { type JsonObject } from "@wonrail/kit/json";
import { type Log } from "@wonrail/kit/log";
import { type Registry } from "@wonrail/kit/metrics";
import { type Config } from "./config";
import { ConsoleError } from "./errors";

const TIMEOUT_MS = 30_000;
const SERVICES = Object.keys(ADDRESS_VARIABLES) as ServiceName[];

/** The Protobuf package of a service that is not the service's name. */
const PACKAGES: Record<string, ServiceName> = { relayer: "chain-relayer" };

/** The package of the RPCs that every service has. */
const COMMON = "common";

export interface AdminRpc {
  /** "wonrail.auth.v1.AuthAdminService/CreateOrganisation" */
  method: string;
  /** Its line in proto/adminRoles.json. */
  rule: AdminRule;
  /** The services that have the RPC. */
  services: ServiceName[];
}

export interface AdminCaller {
  name: string;
  roles: RoleName[];
}

export interface AdminRpcs {
  list(): AdminRpc[];
  /** Throws REQ_004 for an unknown method, and REQ_001 when it does not say which service. */
  find(method: string, service: unknown): { rpc: AdminRpc; service: ServiceName };
  /** Calls the RPC with the JSON form of its request, without the operator. */
  call(rpc: AdminRpc, service: ServiceName, caller: AdminCaller, body: JsonObject): Promise<JsonObject>;
  close(): void;
}

export interface AdminRpcsOptions {
  addresses: Pick<Config, (typeof ADDRESS_VARIABLES)[ServiceName]>;
  log: Log;
  registry: Registry;
  tls?: TlsIdentity | undefined;
}

/**
 * The admin RPCs of all services, by their descriptors and proto/adminRoles.json. A new RPC needs no
 * change here.
 */
export function createAdminRpcs({ addresses, ...shared }: AdminRpcsOptions): AdminRpcs {
  const rpcs = readRpcs();
  const clients = new Map(
    SERVICES.map((name) => {
      const own = [...rpcs.values()].filter(({ services }) => services.includes(name));
      const definition = Object.fromEntries(own.map(({ method, desc }) => [method, definitionOf(desc)]));
      const address = addresses[ADDRESS_VARIABLES[name]];
      return [name, createClient(definition, { ...shared, name, address, defaultTimeoutMs: TIMEOUT_MS })];
    }),
  );

  return {
    list: () => [...rpcs.values()],

    find(method, service) {
      const rpc = rpcs.get(method);
      if (rpc === undefined) throw new DomainError("REQ_004", { method });
      const [only, ...others] = rpc.services;
      const isPlain = others.length === 0 && service === undefined;
      const found = isPlain ? only : rpc.services.find((name) => name === service);
      if (found !== undefined) return { rpc, service: found };
      throw invalidRequest([{ path: "service", message: `must be one of ${rpc.services.join(", ")}` }]);
    },

    async call(rpc, service, { name, roles }, body) {
      const { role, changes } = rpc.rule;
      if (!mayUse(role, roles)) throw new ConsoleError("CON_002", { role });
      const { desc } = rpcs.get(rpc.method)!;
      const request = readRequest(desc, withOperator(rpc, { name, roles }, body));
      try {
        const answer = await clients.get(service)![rpc.method]!(request);
        return answer as JsonObject;
      } catch (error) {
        throw changes ? error : asNotExecuted(error);
      }
    },

    close() {
      for (const client of clients.values()) client.close();
    },
  };
}

type DescribedRpc = AdminRpc & { desc: DescMethod };

function readRpcs(): Map<string, DescribedRpc> {
  const bytes = readFileSync(require.resolve("@wonrail/proto/descriptors"));
  const files = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  const found = Object.entries(readAdminRules()).flatMap(([service, rules]) =>
    (files.getService(service)?.methods ?? []).flatMap((desc): [string, DescribedRpc][] => {
      const rule = rules[desc.name];
      if (rule === undefined) return [];
      const method = `${service}/${desc.name}`;
      return [[method, { method, rule, services: servicesOf(service), desc }]];
    }),
  );
  return new Map(found);
}

/** "wonrail.relayer.v1.RelayerAdminService" is a service of chain-relayer. */
function servicesOf(service: string): ServiceName[] {
  const [, name = ""] = service.split(".");
  return name === COMMON ? SERVICES : [PACKAGES[name] ?? (name as ServiceName)];
}

/** The wire form of a request is its bytes, and that of an answer becomes JSON. */
function definitionOf({ parent, name, output }: DescMethod): MethodDefinition {
  const refuse = (): never => {
    throw new Error("the console serves no RPC");
  };
  return {
    path: `/${parent.typeName}/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: refuse,
    responseSerialize: refuse,
    responseDeserialize: (bytes) => toJson(output, fromBinary(output, bytes), { alwaysEmitImplicit: true }),
  };
}

/** The operator comes from the session. A body that names one is refused. */
function withOperator(
  { rule: { changes } }: AdminRpc,
  { name, roles }: AdminCaller,
  body: JsonObject,
): JsonObject {
  const { reason = "", ...request } = body;
  if ("operator" in body)
    throw invalidRequest([{ path: "operator", message: "must be absent; it is the signed-in operator" }]);
  if (
    typeof reason !== "string" ||
    reason.trim().length > MAX_REASON_LENGTH ||
    (changes && reason.trim() === "")
  )
    throw invalidRequest([{ path: "reason", message: `must be 1 to ${MAX_REASON_LENGTH} characters` }]);
  const held = OPERATOR_ROLES.filter((role) => roles.includes(role));
  return {
    ...request,
    operator: { name, roles: held.map((role) => `OPERATOR_ROLE_${role.toUpperCase()}`), reason },
  };
}

/** Refuses unknown fields and values of a wrong type. */
function readRequest({ input }: DescMethod, request: JsonObject): Buffer {
  try {
    return Buffer.from(toBinary(input, fromJson(input, request)));
  } catch (error) {
    const message = error instanceof Error ? error.message : "is not valid";
    throw invalidRequest([{ path: "(body)", message }]);
  }
}
