import { type KeyMode } from "@wonrail/kit/contract/apiKey";
import { type DomainError } from "@wonrail/kit/contract/errors";
import { type Database } from "@wonrail/kit/db";
import { type ApiKey } from "../domain/keys";
import { type FailedCredential } from "../domain/throttle";

/** The dependencies of commands and queries. Time is the database's, so there is no clock. */
export interface Deps {
  db: Database;
  keyMode: KeyMode;
  keyLifetimeMs: number;
  keyOverlapMs: number;
}

/** For commands that check credentials. */
export interface CredentialDeps extends Deps {
  /** Counts a wrong credential and returns its refusal. */
  countFailure: (failure: FailedCredential) => Promise<DomainError>;
  /** Remembers the use of a key for a later write. */
  addUse: (key: ApiKey, usedAt: Date) => void;
}
