import { Interface, id } from "ethers";
import { readAddress, ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { assert } from "@wonrail/kit/contract/errors";
import manager from "@wonrail/contracts/artifacts/PaymentManager.json";
import token from "@wonrail/contracts/artifacts/WonToken.json";
import { type ChainLog } from "./logs";

export const managerAbi = new Interface(manager.abi);
export const tokenAbi = new Interface(token.abi);

export type StepKind = "TRANSFER" | "MINT" | "BURN";

/** A step in the contract's form. */
export interface ChainStep {
  kind: StepKind;
  from: string;
  to: string;
  units: bigint;
  validBefore: bigint;
  nonce: string;
  /** 65 bytes; empty for a mint. */
  signature: Uint8Array;
}

export interface ChainOperation {
  operationId: string;
  steps: ChainStep[];
}

const KINDS: Record<StepKind, bigint> = { TRANSFER: 0n, MINT: 1n, BURN: 2n };
const EXECUTE = Buffer.from(managerAbi.getFunction("execute")!.selector.slice(2), "hex");
const TAKE_ALL = Buffer.from(managerAbi.getFunction("takeAll")!.selector.slice(2), "hex");
const NO_WORD = Buffer.alloc(32);

/**
 * The call that settles a batch: `execute((id, stepCount)[], step[])`. Encoded by hand, because the
 * library took a quarter of this service's time.
 */
export function encodeExecute(operations: ChainOperation[]): Buffer {
  const steps = operations.flatMap(({ steps }) => steps);
  const heads = operations.flatMap(({ operationId, steps }) => [
    bytes(operationId, 32),
    number(BigInt(steps.length)),
  ]);
  return Buffer.concat([
    EXECUTE,
    // Offsets of the two lists.
    number(64n),
    number(BigInt(64 + 32 + heads.length * 32)),
    number(BigInt(operations.length)),
    ...heads,
    number(BigInt(steps.length)),
    ...steps.flatMap(toWords),
  ]);
}

/**
 * The steps of one operation in the form that only the contract itself may call: a simulation then
 * returns the reason of a refusal, which otherwise is in an event.
 */
export function encodeTakeAll(steps: ChainStep[]): Buffer {
  return Buffer.concat([TAKE_ALL, number(32n), number(BigInt(steps.length)), ...steps.flatMap(toWords)]);
}

function toWords({ kind, from, to, units, validBefore, nonce, signature }: ChainStep): Buffer[] {
  return [
    number(KINDS[kind]),
    address(from),
    address(to),
    number(units),
    number(validBefore),
    nonce ? bytes(nonce, 32) : NO_WORD,
    ...compact(signature),
  ];
}

/** ERC-2098: the parity of the recovered point goes into the highest bit of s, which is always free. */
function compact(signature: Uint8Array): [r: Buffer, vs: Buffer] {
  if (signature.length === 0) return [NO_WORD, NO_WORD];
  assert(signature.length === 65, "a signature has 65 bytes");
  const r = Buffer.from(signature.subarray(0, 32));
  const vs = Buffer.from(signature.subarray(32, 64));
  if (signature[64] === 28) vs[0]! |= 0x80;
  return [r, vs];
}

function address(text: string): Buffer {
  const read = text ? readAddress(text) : ZERO_ADDRESS;
  assert(read !== null, `${text} is not an address`);
  return Buffer.concat([NO_WORD.subarray(20), bytes(read.slice(2), 20)]);
}

function number(value: bigint): Buffer {
  return bytes(value.toString(16).padStart(64, "0"), 32);
}

/** Text that is no hex or has another length must not become other bytes. */
function bytes(hex: string, length: number): Buffer {
  const read = Buffer.from(hex, "hex");
  assert(read.length === length && hex.length === 2 * length, `${hex} is not ${length} bytes in hex`);
  return read;
}

/**
 * Encoded by hand, because reconciliation asks for all wallets and the library takes several times
 * as long.
 */
export function encodeBalanceOf(address: string): string {
  return BALANCE_OF + address.slice(2).toLowerCase().padStart(64, "0");
}

const BALANCE_OF = tokenAbi.getFunction("balanceOf")!.selector;

export function encodeTotalSupply(): string {
  return tokenAbi.encodeFunctionData("totalSupply", []);
}

/** The units in the token's answer. Before its deployment the answer has no data, and no unit exists. */
export function decodeUnits(answer: string): bigint {
  return answer === "0x" ? 0n : BigInt(answer);
}

export function encodeMintAllowance(minter: string): string {
  return tokenAbi.encodeFunctionData("mintAllowance", [minter]);
}

/** The amount that all minters together may still mint within 24 hours. */
export function encodeMintableToday(): string {
  return tokenAbi.encodeFunctionData("mintableToday", []);
}

export function encodeIsBlocked(account: string): string {
  return tokenAbi.encodeFunctionData("isBlocked", [account]);
}

/** Whether the token refuses all movements. */
export function encodePaused(): string {
  return tokenAbi.encodeFunctionData("paused", []);
}

export function encodeAuthorizationState(from: string, nonce: string): string {
  return tokenAbi.encodeFunctionData("authorizationState", [from, `0x${nonce}`]);
}

export function encodeIsExecuted(operationId: string): string {
  return managerAbi.encodeFunctionData("isExecuted", [`0x${operationId}`]);
}

/** The payment manager's token. */
export function encodeToken(): string {
  return managerAbi.encodeFunctionData("token", []);
}

/** May this account settle? */
export function encodeIsOperator(account: string): string {
  return managerAbi.encodeFunctionData("hasRole", [id("OPERATOR_ROLE"), account]);
}

export function encodeDomainSeparator(): string {
  return tokenAbi.encodeFunctionData("DOMAIN_SEPARATOR", []);
}

/** An event of our contracts in a block. */
export type ChainEvent = { log: ChainLog } & (
  | { kind: "executed" | "repeated"; operationId: string }
  | { kind: "failed"; operationId: string; reason: string }
  | { kind: "used" | "canceled"; authorizer: string; nonce: string }
  | { kind: "block_set"; account: string; blocked: boolean }
  | { kind: "transfer"; from: string; to: string; units: bigint }
);

/** The payment manager's event about one operation. */
export type Outcome = Extract<ChainEvent, { operationId: string }>;

export function isOutcome(event: ChainEvent): event is Outcome {
  return event.kind === "executed" || event.kind === "repeated" || event.kind === "failed";
}

export type TransferEvent = Extract<ChainEvent, { kind: "transfer" }>;

/** A movement that the token's Transfer event states; addresses in lower case. */
export type TokenMovement = Pick<TransferEvent, "from" | "to" | "units">;

export const TOPICS = {
  executed: id("OperationExecuted(bytes32)"),
  repeated: id("OperationRepeated(bytes32)"),
  failed: id("OperationFailed(bytes32,bytes)"),
  used: id("AuthorizationUsed(address,bytes32)"),
  canceled: id("AuthorizationCanceled(address,bytes32)"),
  blockSet: id("AccountBlockSet(address,bool)"),
  transfer: id("Transfer(address,address,uint256)"),
};

/** The contracts whose logs the indexer reads; payment managers in lower case. */
export interface TrackedContracts {
  tokenAddress: string;
  paymentManagers: readonly string[];
}

/** Returns null for irrelevant logs, and for logs from another contract than the event's own. */
export function decodeLog(
  log: ChainLog,
  { tokenAddress, paymentManagers }: TrackedContracts,
): ChainEvent | null {
  const [topic, first = "", second = ""] = log.topics;
  if (paymentManagers.includes(log.address)) {
    const operationId = first.slice(2);
    if (topic === TOPICS.executed) return { kind: "executed", operationId, log };
    if (topic === TOPICS.repeated) return { kind: "repeated", operationId, log };
    if (topic === TOPICS.failed) {
      const decoded = managerAbi.decodeEventLog("OperationFailed", log.data, log.topics);
      return { kind: "failed", operationId, reason: reasonOf(decoded.getValue("reason") as string), log };
    }
  }
  if (log.address === tokenAddress.toLowerCase()) {
    if (topic === TOPICS.used)
      return { kind: "used", authorizer: addressOf(first), nonce: second.slice(2), log };
    if (topic === TOPICS.canceled)
      return { kind: "canceled", authorizer: addressOf(first), nonce: second.slice(2), log };
    if (topic === TOPICS.blockSet)
      return { kind: "block_set", account: addressOf(first), blocked: BigInt(log.data) !== 0n, log };
    if (topic === TOPICS.transfer) {
      return {
        kind: "transfer",
        from: addressOf(first),
        to: addressOf(second),
        units: BigInt(log.data),
        log,
      };
    }
  }
  return null;
}

/** The name of the error that a contract gave, for example "EnforcedPause". */
export function reasonOf(data: string): string {
  for (const abi of [tokenAbi, managerAbi]) {
    try {
      const error = abi.parseError(data);
      if (error) return error.name;
    } catch {
      // The log is no event of this contract.
    }
  }
  return data === "0x" ? "no_reason" : "unknown_error";
}

/** Position of an event on the chain, or of the log so many positions after it. */
export function placeOf({ log }: ChainEvent, after = 0): string {
  return `${log.txHash}|${log.logIndex + after}`;
}

/** In lower case. */
export function addressOf(word: string): string {
  return `0x${word.slice(26)}`.toLowerCase();
}
