import { deferSignals, withDatabase, type World as CommandWorld } from "@wonrail/kit/command";
import { operatorOf } from "@wonrail/kit/operator";
import { createOperations, keyRules, type Operations } from "../app";
import { type AdminConfig } from "../config";

export type World = CommandWorld<AdminConfig>;

export function withAuth<T>({ config }: World, work: (auth: Operations) => Promise<T>): Promise<T> {
  return withDatabase(config, "auth", (db) => work(createOperations({ db, ...keyRules(config) })));
}

/** Runs work that creates a secret, and shows the secret before a signal can end the command. */
export function withSecretShown<T>(
  world: World,
  work: (auth: Operations) => Promise<T>,
  show: (made: T) => void,
): Promise<void> {
  return deferSignals(world, async () => show(await withAuth(world, work)));
}

/** The operator's name, for the audit trail. */
export function actorOf({ config }: World): string {
  return operatorOf(config);
}
