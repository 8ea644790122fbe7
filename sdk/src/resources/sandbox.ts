import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import { ApiResource } from "../internal/apiResource.ts";
import {
  checkMinimum,
  checkTime,
  checkWon,
  pathSegment,
  requireFields,
  throwProblems,
} from "../internal/checks.ts";
import type { KnownNames } from "../internal/names.ts";
import type { ApiKey } from "./keys.ts";
import { type Moment, toIsoString } from "./shared.ts";

/** Request of `sandbox.createDeposit`. */
export interface SandboxDepositRequest {
  /** Wallet that receives the deposit. */
  walletId: string;
  /** Amount in KRW, at least 1. */
  amount: number;
}

/** A deposit from outside. The wallet is credited once the block is final. */
export interface SandboxDeposit {
  /** Wallet that receives the deposit. */
  walletId: string;
  /** Amount in KRW. */
  amount: number;
  /** Address outside that sends the tokens. */
  fromAddress: string;
  /** Hash of the chain transaction, or null while it is not sent. */
  txHash: string | null;
}

/** An order for a settlement. */
export interface SandboxSettlement {
  /** Id of the transfer, charge, payment, refund or cancellation. */
  id: string;
  /** HELD waits for its release. FAILING is FAILED within seconds. RELEASED goes on. */
  state: "HELD" | "FAILING" | "RELEASED";
}

/** The test clock of the organisation. */
export interface SandboxClock {
  /** Time that the clock shows. */
  time: string;
  /** The real time, which all other answers have. */
  realTime: string;
  /** Seconds that the clock is ahead. */
  aheadSeconds: number;
}

/** Request of `sandbox.advanceClock`. */
export interface AdvanceClockRequest {
  /** Time that the clock shall show. An earlier one changes nothing. */
  to: Moment;
}

const PATH = "/api/sandbox";
const DEPOSIT_NAMES: KnownNames<SandboxDepositRequest> = { walletId: true, amount: true };
const ADVANCE_NAMES: KnownNames<AdvanceClockRequest> = { to: true };

/** Rehearsals on a test network, with a `wk_test_` key. A main network answers REQ_004. */
export class SandboxApi extends ApiResource {
  /** Sends tokens from an address outside to a wallet. */
  createDeposit(request: SandboxDepositRequest, options?: IdempotentCallOptions): ApiPromise<SandboxDeposit> {
    return this.keyedPost(() => {
      const { amount } = requireFields("(body)", request, DEPOSIT_NAMES);
      throwProblems([checkWon("amount", amount) ?? checkMinimum("amount", amount, 1)]);
      return { path: `${PATH}/deposits`, body: request };
    }, options);
  }

  /** Keeps a settlement from being sent. The memo `sandbox:settlement_held` holds it from the start. */
  holdSettlement(id: string, options?: CallOptions): ApiPromise<SandboxSettlement> {
    return this.#order(id, "hold", options);
  }

  /** Lets a held transfer to an outside address fail. Any other settlement is held. */
  failSettlement(id: string, options?: CallOptions): ApiPromise<SandboxSettlement> {
    return this.#order(id, "fail", options);
  }

  /** Lets a held settlement go on. */
  releaseSettlement(id: string, options?: CallOptions): ApiPromise<SandboxSettlement> {
    return this.#order(id, "release", options);
  }

  /** Ends the life of a key now. It can be refreshed. */
  expireKey(keyId: string, options?: CallOptions): ApiPromise<ApiKey> {
    return this.#post(() => `keys/${pathSegment("keyId", keyId, "WAUTH_007")}/expire`, options);
  }

  /** Reads the test clock. */
  readClock(options?: CallOptions): ApiPromise<SandboxClock> {
    return this.#post(() => "clocks", options);
  }

  /** Moves the test clock forward. Periods, daily limits, schedules, ends of keys and webhook retries follow it. */
  advanceClock(request: AdvanceClockRequest, options?: CallOptions): ApiPromise<SandboxClock> {
    return this.call(() => {
      const to = toIsoString(requireFields("(body)", request, ADVANCE_NAMES).to);
      throwProblems([checkTime("to", to)]);
      return { method: "POST", path: `${PATH}/clocks/advance`, body: { to }, repeat: "safe", options };
    });
  }

  #order(id: string, order: string, options?: CallOptions): ApiPromise<SandboxSettlement> {
    return this.#post(() => `settlements/${pathSegment("id", id, "SBX_001")}/${order}`, options);
  }

  /** A repetition changes nothing. */
  #post<T>(path: () => string, options?: CallOptions): ApiPromise<T> {
    return this.call(() => ({ method: "POST", path: `${PATH}/${path()}`, repeat: "safe", options }));
  }
}
