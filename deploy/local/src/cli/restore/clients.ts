import {
  type ClientConfig,
  operatorMessage,
  type ServiceName,
  withService,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { AuthAdminServiceService } from "@wonrail/proto/auth/v1/admin";
import { AdminServiceService } from "@wonrail/proto/common/v1/admin";
import { type Operator } from "@wonrail/proto/common/v1/common";
import { LedgerAdminServiceService } from "@wonrail/proto/ledger/v1/admin";
import { RelayerAdminServiceService } from "@wonrail/proto/relayer/v1/admin";
import { WalletAdminServiceService } from "@wonrail/proto/wallet/v1/admin";

export type World = CommandWorld<ClientConfig>;

/** Services with a database. */
export const SERVICES: readonly ServiceName[] = [
  "auth",
  "wallet",
  "ledger",
  "payment",
  "chain-relayer",
  "events",
];

type Definition = Parameters<typeof withService>[2];
type Work<D extends Definition, T> = (client: PromiseClient<D>, operator: Operator) => Promise<T>;

/** Hands the admin client that every service has to the work, and the operator for its requests. */
export function withAdmin<T>(
  world: World,
  service: ServiceName,
  work: Work<typeof AdminServiceService, T>,
): Promise<T> {
  const operator = operatorMessage(world);
  return withService(world.config, service, AdminServiceService, (client) => work(client, operator));
}

export function withAuth<T>(world: World, work: Work<typeof AuthAdminServiceService, T>): Promise<T> {
  const operator = operatorMessage(world);
  return withService(world.config, "auth", AuthAdminServiceService, (client) => work(client, operator));
}

export function withLedger<T>(
  world: World,
  work: Work<typeof LedgerAdminServiceService, T>,
  reason?: string,
): Promise<T> {
  const operator = operatorMessage(world, reason);
  return withService(world.config, "ledger", LedgerAdminServiceService, (client) => work(client, operator));
}

export function withRelayer<T>(
  world: World,
  work: Work<typeof RelayerAdminServiceService, T>,
  reason?: string,
): Promise<T> {
  const operator = operatorMessage(world, reason);
  return withService(world.config, "chain-relayer", RelayerAdminServiceService, (client) =>
    work(client, operator),
  );
}

export function withWallet<T>(
  world: World,
  work: Work<typeof WalletAdminServiceService, T>,
  reason?: string,
): Promise<T> {
  const operator = operatorMessage(world, reason);
  return withService(world.config, "wallet", WalletAdminServiceService, (client) => work(client, operator));
}
