import { z } from "zod";
import { hostPort, loadConfig, port, postgresUrl } from "../config";
import { tlsRule, tlsShape } from "../tls";

const placeShape = {
  /** The folder of a running stack. */
  WONRAIL_HOME: z.string().optional(),
  /** The operator's name, which is stored with his actions. */
  USER: z.string().max(64).optional(),
};

/** Settings of the commands that open a service's database. */
export const commandShape = {
  ...placeShape,
  /** The service's database. Default: that of a running stack in WONRAIL_HOME. */
  DATABASE_URL: postgresUrl.optional(),
};

/** The variable with a service's address, the same as for the services that call it. */
export const ADDRESS_VARIABLES = {
  auth: "AUTH_ADDRESS",
  wallet: "WALLET_ADDRESS",
  ledger: "LEDGER_ADDRESS",
  payment: "PAYMENT_ADDRESS",
  "chain-relayer": "RELAYER_ADDRESS",
  events: "EVENTS_ADDRESS",
} as const;

export type ServiceName = keyof typeof ADDRESS_VARIABLES;

const address = hostPort.optional();
const clientShape = {
  ...placeShape,
  ...tlsShape,
  AUTH_ADDRESS: address,
  WALLET_ADDRESS: address,
  LEDGER_ADDRESS: address,
  PAYMENT_ADDRESS: address,
  RELAYER_ADDRESS: address,
  EVENTS_ADDRESS: address,
  /** In a pod: the port of the pod's own service. */
  GRPC_PORT: port.optional(),
};

/** Settings of the commands that call admin RPCs. A running stack in WONRAIL_HOME has the defaults. */
export type ClientConfig = z.output<z.ZodObject<typeof clientShape>>;

/** The settings of the commands of one service, which run in its pod too. */
export function readClientConfig(own?: ServiceName): ClientConfig {
  const config = loadConfig(z.object(clientShape), process.env, [tlsRule]);
  if (own === undefined || config.GRPC_PORT === undefined) return config;
  const variable = ADDRESS_VARIABLES[own];
  return { ...config, [variable]: config[variable] ?? `127.0.0.1:${config.GRPC_PORT}` };
}
