import {
  type ClientConfig,
  deferSignals,
  operatorMessage,
  withService,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { AuthAdminServiceService } from "@wonrail/proto/auth/v1/admin";
import { type Operator } from "@wonrail/proto/common/v1/common";

export type World = CommandWorld<ClientConfig>;
export type AuthAdmin = PromiseClient<typeof AuthAdminServiceService>;

/** Hands the service's client to the work, and the operator for its requests. */
export function withAuth<T>(
  world: World,
  work: (auth: AuthAdmin, operator: Operator) => Promise<T>,
  reason?: string,
): Promise<T> {
  const operator = operatorMessage(world, reason);
  return withService(world.config, "auth", AuthAdminServiceService, (auth) => work(auth, operator));
}

/** Runs work that creates a secret, and shows the secret before a signal can end the command. */
export function withSecretShown<T>(
  world: World,
  reason: string,
  work: (auth: AuthAdmin, operator: Operator) => Promise<T>,
  show: (made: T) => void,
): Promise<void> {
  return deferSignals(world, async () => show(await withAuth(world, work, reason)));
}
