import { ethers } from "ethers";
import { TestChain, readJson, send } from "./support/chain";

interface TypedData {
  domain: { name: string; version: string };
  types: Record<string, { name: string; type: string }[]>;
}
type Step = [
  kind: number,
  from: string,
  to: string,
  value: bigint,
  validBefore: number,
  nonce: string,
  r: string,
  vs: string,
];
type Entry = [id: bigint, steps: Step[]];

const typedData = readJson("typedData.json") as TypedData;
const gas = readJson("gas.json") as { single: Record<string, number>; batch100: Record<string, number> };
const [TRANSFER, MINT, BURN] = [0, 1, 2];
const validBefore = 4_102_444_800;
const won = (amount: number) => BigInt(amount) * 1_000_000n;

jest.setTimeout(180_000);

let chain: TestChain;
let token: ethers.Contract;
let manager: ethers.Contract;
let alice: ethers.Wallet;
let shop: ethers.Wallet;

beforeAll(async () => {
  chain = await TestChain.start();
  await chain.deploy();
  token = chain.contract("WonToken", chain.wallet("operator"));
  manager = chain.contract("PaymentManager", chain.wallet("operator"));
});

afterAll(() => chain.stop());

beforeEach(async () => {
  [alice, shop] = [ethers.Wallet.createRandom(), ethers.Wallet.createRandom()].map(
    (wallet) => new ethers.Wallet(wallet.privateKey),
  ) as [ethers.Wallet, ethers.Wallet];
});

test("the token verifies the typed data that wallets sign", async () => {
  const [, name, version, chainId, verifyingContract] = (await token.getFunction(
    "eip712Domain",
  )()) as unknown[];
  expect({ name, version }).toEqual(typedData.domain);
  expect({ chainId, verifyingContract }).toEqual({ chainId: 31_337n, verifyingContract: token.target });
  await execute([[1n, [mint(alice.address, won(100))]]]);

  const receive = await authorize(
    alice,
    "ReceiveWithAuthorization",
    { to: chain.address("operator"), value: won(1) },
    0n,
  );
  const fields = [alice.address, chain.address("operator"), won(1), 0, validBefore, bytes32(0n)];
  const form = "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)";
  await send(token, form, ...fields, receive.serialized);
  expect(await balance(chain.address("operator"))).toBe(won(1));

  const cancel = await sign(alice, "CancelAuthorization", { authorizer: alice.address, nonce: bytes32(1n) });
  await send(
    token,
    "cancelAuthorization(address,bytes32,bytes)",
    alice.address,
    bytes32(1n),
    cancel.serialized,
  );
  expect(await token.getFunction("authorizationState")(alice.address, bytes32(1n))).toBe(true);
});

test("charges, payments with accrual, cancellations and refunds settle in one batch each way", async () => {
  const incentive = ethers.Wallet.createRandom(chain.provider);
  const rewards = new ethers.Wallet(incentive.privateKey);
  const forth = await execute([
    [10n, [mint(alice.address, won(100_000))]],
    [11n, [mint(rewards.address, won(500))]],
    [
      12n,
      [
        await pay(rewards, shop.address, won(500), 0n),
        await pay(alice, shop.address, won(9_500), 0n),
        mint(rewards.address, won(95)),
      ],
    ],
  ]);
  expect(forth).toEqual(["OperationExecuted 10", "OperationExecuted 11", "OperationExecuted 12"]);
  expect([await balance(alice.address), await balance(shop.address)]).toEqual([won(90_500), won(10_000)]);
  expect(await balance(rewards.address)).toBe(won(95));

  const back = await execute([
    [
      13n,
      [
        await pay(shop, rewards.address, won(500), 0n),
        await pay(shop, alice.address, won(9_500), 1n),
        await burn(rewards, won(95), 1n),
      ],
    ],
    [14n, [await burn(alice, won(100_000), 1n)]],
  ]);
  expect(back).toEqual(["OperationExecuted 13", "OperationExecuted 14"]);
  expect([await balance(alice.address), await balance(shop.address)]).toEqual([0n, 0n]);
  expect(await balance(rewards.address)).toBe(won(500));
});

test("a repeated batch moves nothing", async () => {
  const batch: Entry[] = [
    [20n, [mint(alice.address, won(10))]],
    [21n, [await pay(alice, shop.address, won(4), 0n)]],
  ];
  await execute(batch);
  expect(await execute(batch)).toEqual(["OperationRepeated 20", "OperationRepeated 21"]);
  expect([await balance(alice.address), await balance(shop.address)]).toEqual([won(6), won(4)]);
});

test("a leg that a third party submitted first fails its operation, which then settles without that leg", async () => {
  await execute([[30n, [mint(alice.address, won(100))]]]);
  const { v, r, s } = await authorize(
    alice,
    "TransferWithAuthorization",
    { to: shop.address, value: won(10) },
    0n,
  );
  const stranger = token.connect(chain.wallet("deployer")) as ethers.Contract;
  const form =
    "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)";
  await send(stranger, form, alice.address, shop.address, won(10), 0, validBefore, bytes32(0n), v, r, s);

  const [first, second] = [
    await pay(alice, shop.address, won(10), 0n),
    await pay(alice, shop.address, won(20), 1n),
  ];
  expect(await execute([[31n, [first, second]]])).toEqual([
    `OperationFailed 31 ERC3009UsedAuthorization ${alice.address} ${bytes32(0n)}`,
  ]);
  expect(await balance(shop.address)).toBe(won(10));
  expect(await execute([[31n, [second]]])).toEqual(["OperationExecuted 31"]);
  expect(await balance(shop.address)).toBe(won(30));
});

test("a failed operation leaves the others unchanged", async () => {
  const outcomes = await execute([
    [40n, [mint(alice.address, won(10))]],
    [41n, [await pay(alice, shop.address, won(11), 0n)]],
    [42n, [await pay(shop, alice.address, won(1), 0n)]],
    [43n, [await pay(alice, shop.address, won(10), 1n)]],
  ]);
  expect(outcomes).toEqual([
    "OperationExecuted 40",
    `OperationFailed 41 ERC20InsufficientBalance ${alice.address} ${won(10)} ${won(11)}`,
    `OperationFailed 42 ERC20InsufficientBalance ${shop.address} 0 ${won(1)}`,
    "OperationExecuted 43",
  ]);
});

test("a transaction with too little gas reverts completely, and its operations can be sent again", async () => {
  const step = mint(alice.address, won(10));
  const call = manager.getFunction("execute").staticCall([[bytes32(50n), 1]], [step], { gasLimit: 310_000 });
  await expect(call).rejects.toMatchObject({ revert: { name: "GasTooLow" } });
  expect(await execute([[50n, [step]]])).toEqual(["OperationExecuted 50"]);
});

test("recorded gas stays below 52,000 for a single transfer and 27,000 per payment in a batch of 100", () => {
  expect(gas.single["transfer, straight at the token"]).toBeLessThanOrEqual(52_000);
  expect(gas.batch100["payment, 200 wallets, each its first time"]).toBeLessThanOrEqual(27_000);
  expect(gas.batch100["payment, 200 wallets"]).toBeLessThanOrEqual(27_000);
  expect(gas.batch100["payment, among 20 wallets"]).toBeLessThanOrEqual(18_000);
});

/** Each operation's event in the order of the log, its reason decoded by the token's errors. */
async function execute(entries: Entry[]): Promise<string[]> {
  const operations = entries.map(([id, steps]) => [bytes32(id), steps.length]);
  const { logs } = await send(
    manager,
    "execute",
    operations,
    entries.flatMap(([, steps]) => steps),
  );
  return logs
    .filter((log) => log.address === manager.target)
    .map((log) => {
      const event = manager.interface.parseLog(log)!;
      const [id, reason] = event.args as unknown as [string, string | undefined];
      const cause = reason === undefined ? null : token.interface.parseError(reason);
      return [event.name, BigInt(id), ...(cause ? [cause.name, ...(cause.args as unknown[])] : [])].join(" ");
    });
}

function mint(to: string, value: bigint): Step {
  return [
    MINT,
    ethers.ZeroAddress,
    to,
    value,
    validBefore,
    ethers.ZeroHash,
    ethers.ZeroHash,
    ethers.ZeroHash,
  ];
}

async function pay(from: ethers.Wallet, to: string, value: bigint, nonce: bigint): Promise<Step> {
  const { r, yParityAndS } = await authorize(from, "TransferWithAuthorization", { to, value }, nonce);
  return [TRANSFER, from.address, to, value, validBefore, bytes32(nonce), r, yParityAndS];
}

async function burn(from: ethers.Wallet, value: bigint, nonce: bigint): Promise<Step> {
  const { r, yParityAndS } = await authorize(from, "BurnWithAuthorization", { value }, nonce);
  return [BURN, from.address, ethers.ZeroAddress, value, validBefore, bytes32(nonce), r, yParityAndS];
}

function authorize(
  from: ethers.Wallet,
  type: string,
  fields: Record<string, unknown>,
  nonce: bigint,
): Promise<ethers.Signature> {
  const message = { from: from.address, ...fields, validAfter: 0, validBefore, nonce: bytes32(nonce) };
  return sign(from, type, message);
}

async function sign(
  from: ethers.Wallet,
  type: string,
  message: Record<string, unknown>,
): Promise<ethers.Signature> {
  const domain = { ...typedData.domain, chainId: 31_337, verifyingContract: token.target as string };
  const fields = typedData.types[type] as { name: string; type: string }[];
  return ethers.Signature.from(await from.signTypedData(domain, { [type]: fields }, message));
}

async function balance(address: string): Promise<bigint> {
  return (await token.getFunction("balanceOf")(address)) as bigint;
}

function bytes32(number: bigint): string {
  return ethers.toBeHex(number, 32);
}
