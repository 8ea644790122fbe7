import { type Tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type NewEvent } from "@wonrail/kit/outbox";
import { type ErrorDetail } from "@wonrail/proto/common/v1/common";
import { type PostRequest, type PostResponse } from "@wonrail/proto/ledger/v1/ledger";
import { type ExecuteRequest, type ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { type ContractAddresses } from "../../domain/destination";
import { type Input, type Operation } from "../../domain/operation";
import { type Policy } from "../../store/policies";

/** What the commands need of the world to understand a request. All of it is cached where it cannot change. */
export interface Facts {
  contracts: ContractAddresses;
  network: string;
  policyOf(orgId: string): Promise<Policy>;
  /** The id of the organisation's wallet at this address; null when there is none. */
  walletAt(orgId: string, address: string): Promise<string | null>;
  /** Makes sure that the payer has an INCENTIVE wallet, unless what these two wallets are forbids a payment between them. */
  ensureIncentiveWallet(orgId: string, payerWalletId: string, receiverWalletId: string): Promise<void>;
  /** The ledger has none, whatever was known: the next request makes sure again. */
  forgetIncentiveWallet(orgId: string, payerWalletId: string): void;
}

type Command = NonNullable<ExecuteRequest["command"]>;
export type CommandOf<C extends Command["$case"]> = Extract<Command, { $case: C }>["value"];

export type LedgerIntent = NonNullable<PostRequest["intent"]>;

/** An operation that the ledger has posted. */
export interface Posted<I extends Input> {
  operation: Operation<I>;
  entry: PostResponse;
}

/**
 * What it takes back was posted by a process that has not written it down yet; that one or the completer does, and then this can be. Of this one
 * only: what is written down with it has nothing to wait for.
 */
export class TooEarlyError extends DomainError {
  constructor() {
    super("SYS_003");
  }
}

/** What is told of it: to the caller and to the other services. */
export interface Recorded {
  outcome: NonNullable<ExecuteResponse["outcome"]>;
  event: NewEvent;
}

/** One kind of command. `execute` drives all of them through the same steps. */
export interface Flow<C extends Command["$case"], I extends Input> {
  /** Understands the request, with the facts of today. Refuses before anything is written down. */
  prepare(facts: Facts, orgId: string, command: CommandOf<C>): Promise<I>;
  intent(input: I): LedgerIntent;
  /** What the entry belongs to, when that is not the operation itself. */
  relatedId?(input: I): string;
  /** Writes down what the ledger has posted, in the order of their ids: two processes with the same ones wait for each other instead of in a circle. */
  record(tx: Tx, posted: Posted<I>[], facts: Facts): Promise<Recorded[]>;
  /** What the ledger's refusal means to who knows more than the ledger: its journal forgets old months, the records here nothing. */
  refusal?(tx: Tx, operation: Operation<I>, refused: ErrorDetail, facts: Facts): Promise<ErrorDetail>;
}
