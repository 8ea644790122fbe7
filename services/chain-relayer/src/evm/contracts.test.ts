import { randomBytes, randomInt } from "node:crypto";
import { getAddress } from "ethers";
import {
  type ChainOperation,
  type ChainStep,
  decodeLog,
  encodeExecute,
  encodeTakeAll,
  managerAbi,
  tokenAbi,
} from "./contracts";

const hex = (bytes: number) => randomBytes(bytes).toString("hex");

describe("the call that settles a batch", () => {
  test("equals the library's encoding for any batch", () => {
    for (let round = 0; round < 200; round += 1) {
      const batch = Array.from({ length: randomInt(5) }, anyOperation);
      expect(`0x${encodeExecute(batch).toString("hex")}`).toBe(byLibrary(batch));
    }
  });

  test("has the same steps when it settles a single operation", () => {
    for (let round = 0; round < 50; round += 1) {
      const { steps } = anyOperation();
      const expected = managerAbi.encodeFunctionData("takeAll", [steps.map(stepOf)]);
      expect(`0x${encodeTakeAll(steps).toString("hex")}`).toBe(expected);
    }
  });

  test("refuses malformed arguments", () => {
    const broken: Partial<ChainStep>[] = [
      { to: `0x${"g".repeat(40)}` },
      { to: `0x${hex(19)}` },
      { from: hex(20) },
      { to: "0x52908400098527886E0F7030069857D2E4169Ee7" }, // Its last e should be a capital: a checksum error.
      { nonce: hex(31) },
      { nonce: `0x${hex(31)}` },
      { units: -1n },
      { units: 1n << 256n },
      { signature: randomBytes(64) },
    ];
    for (const part of broken)
      expect(() => encodeExecute([{ operationId: hex(32), steps: [{ ...transfer(), ...part }] }])).toThrow();
    expect(() => encodeExecute([{ operationId: hex(31), steps: [] }])).toThrow("is not 32 bytes");
  });
});

test("an event counts only when the contract that owns it emitted it", () => {
  const [manager, before, token, stranger] = [address(), address(), address(), address()];
  const paymentManagers = [before, manager].map((one) => one.toLowerCase());
  const contracts = { tokenAddress: token, paymentManagers };
  const word = `0x${hex(32)}`;
  const said = [
    ...["OperationExecuted", "OperationRepeated"].map((name) => managerAbi.encodeEventLog(name, [word])),
    managerAbi.encodeEventLog("OperationFailed", [word, "0x"]),
    ...["AuthorizationUsed", "AuthorizationCanceled"].map((name) =>
      tokenAbi.encodeEventLog(name, [stranger, word]),
    ),
    tokenAbi.encodeEventLog("Transfer", [stranger, token, 5n]),
  ];
  const place = { blockNumber: 1n, blockHash: word, txHash: word, logIndex: 0 };
  const kindsOf = (by: string) =>
    said.map((one) => decodeLog({ ...place, ...one, address: by.toLowerCase() }, contracts)?.kind);
  for (const one of [before, manager])
    expect(kindsOf(one)).toEqual(["executed", "repeated", "failed", undefined, undefined, undefined]);
  expect(kindsOf(token)).toEqual([undefined, undefined, undefined, "used", "canceled", "transfer"]);
  expect(kindsOf(stranger)).toEqual(Array(6).fill(undefined));
});

function address(): string {
  return getAddress(`0x${hex(20)}`);
}

function anyOperation(): ChainOperation {
  return { operationId: hex(32), steps: Array.from({ length: randomInt(4) }, anyStep) };
}

function anyStep(): ChainStep {
  const mint = { kind: "MINT" as const, from: "", nonce: "", validBefore: 0n, signature: new Uint8Array() };
  return [transfer(), { ...transfer(), ...mint }, { ...transfer(), kind: "BURN" as const, to: "" }][
    randomInt(3)
  ]!;
}

function transfer(): ChainStep {
  return {
    kind: "TRANSFER",
    from: getAddress(`0x${hex(20)}`),
    to: `0x${hex(20)}`,
    units: BigInt(`0x${hex(1 + randomInt(32))}`),
    validBefore: BigInt(randomInt(2 ** 40)),
    nonce: hex(32),
    signature: Buffer.concat([
      randomBytes(32),
      Buffer.of(randomInt(128)),
      randomBytes(31),
      Buffer.of(27 + randomInt(2)),
    ]),
  };
}

const KINDS = { TRANSFER: 0, MINT: 1, BURN: 2 };

function byLibrary(operations: ChainOperation[]): string {
  const steps = operations.flatMap(({ steps }) => steps).map(stepOf);
  const heads = operations.map(({ operationId, steps }) => [`0x${operationId}`, steps.length]);
  return managerAbi.encodeFunctionData("execute", [heads, steps]);
}

function stepOf({ kind, from, to, units, validBefore, nonce, signature }: ChainStep): unknown[] {
  const zero = (bytes: number) => `0x${"00".repeat(bytes)}`;
  const bytes = Buffer.from(signature);
  const s = Buffer.from(bytes.subarray(32, 64));
  if (bytes[64] === 28) s[0]! += 128;
  const [r, vs] = bytes.length === 0 ? [zero(32), zero(32)] : [bytes.subarray(0, 32), s];
  const ends = [from || zero(20), to || zero(20)];
  return [KINDS[kind], ...ends, units, validBefore, nonce ? `0x${nonce}` : zero(32), r, vs];
}
