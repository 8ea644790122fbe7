import { ethers } from "ethers";
import { TestChain, abiOf, people } from "./support/chain";

/**
 * Callers of each function. Every function that changes state is in exactly one of the two tables.
 */
const privileged: Record<string, Record<string, string>> = {
  WonToken: {
    mint: "MINTER_ROLE",
    burnWithAuthorization: "BURNER_ROLE",
    pause: "PAUSER_ROLE",
    unpause: "PAUSER_ROLE",
    setBlocked: "BLOCKLISTER_ROLE",
    setMintAllowance: "DEFAULT_ADMIN_ROLE",
    setMintCapPerDay: "DEFAULT_ADMIN_ROLE",
  },
  PaymentManager: { execute: "OPERATOR_ROLE", sweep: "DEFAULT_ADMIN_ROLE" },
};
const roleManagement: Record<string, string> = {
  grantRole: "DEFAULT_ADMIN_ROLE",
  revokeRole: "DEFAULT_ADMIN_ROLE",
  beginDefaultAdminTransfer: "DEFAULT_ADMIN_ROLE",
  cancelDefaultAdminTransfer: "DEFAULT_ADMIN_ROLE",
  changeDefaultAdminDelay: "DEFAULT_ADMIN_ROLE",
  rollbackDefaultAdminDelay: "DEFAULT_ADMIN_ROLE",
};

/**
 * Open functions, guarded by a signature, a balance or the caller's own position, with the error
 * for a stranger.
 */
const open: Record<string, Record<string, string>> = {
  WonToken: {
    transfer: "ERC20InsufficientBalance",
    approve: "",
    transferFrom: "ERC20InsufficientAllowance",
    permit: "ERC2612ExpiredSignature",
    transferWithAuthorization: "ECDSAInvalidSignatureS ERC3009InvalidSignature",
    receiveWithAuthorization: "ECDSAInvalidSignatureS ERC20InvalidReceiver",
    cancelAuthorization: "ECDSAInvalidSignatureS ERC3009InvalidSignature",
  },
  PaymentManager: { takeAll: "CallerNotSelf" },
};
const ownPlace: Record<string, string> = {
  renounceRole: "AccessControlBadConfirmation",
  acceptDefaultAdminTransfer: "AccessControlInvalidDefaultAdmin",
};

const contracts = ["WonToken", "PaymentManager"] as const;
jest.setTimeout(180_000);

let chain: TestChain;

beforeAll(async () => {
  chain = await TestChain.start();
  await chain.deploy();
});

afterAll(() => chain.stop());

test("the tables name exactly the functions that change state", () => {
  for (const name of contracts) {
    const known = [privileged[name], roleManagement, open[name], ownPlace].flatMap((table) =>
      Object.keys(table ?? {}),
    );
    expect([...known].sort()).toEqual([...new Set(writers(name).map((writer) => writer.name))].sort());
  }
});

test("every privileged function refuses callers without its role, and admits holders of it", async () => {
  let refused = 0;
  for (const name of contracts) {
    for (const writer of writers(name)) {
      const role = { ...privileged[name], ...roleManagement }[writer.name];
      if (role === undefined) continue;
      const id = role === "DEFAULT_ADMIN_ROLE" ? ethers.ZeroHash : ethers.id(role);
      for (const caller of callers()) {
        const holds = (await chain.contract(name).getFunction("hasRole")(id, caller)) as boolean;
        const { errorName, errorArgs } = await call(name, writer, caller);
        if (holds) {
          expect([writer.name, errorName]).not.toEqual([writer.name, "AccessControlUnauthorizedAccount"]);
        } else {
          expect([writer.name, errorName, ...errorArgs]).toEqual([
            writer.name,
            "AccessControlUnauthorizedAccount",
            caller,
            id,
          ]);
          refused += 1;
        }
      }
    }
  }
  // 13 functions of the token and 8 of the manager, 8 callers, one of them authorised for each.
  expect(refused).toBe((13 + 8) * (8 - 1));
});

test("every other state-changing function has its own reason to refuse", async () => {
  for (const name of contracts) {
    for (const writer of writers(name)) {
      const reasons = { ...open[name], ...ownPlace }[writer.name];
      if (reasons === undefined) continue;
      const stranger = ethers.Wallet.createRandom().address;
      const { errorName } = await call(name, writer, stranger);
      expect(reasons.split(" ")).toContain(errorName);
    }
  }
});

function writers(name: string): ethers.FunctionFragment[] {
  const all: ethers.FunctionFragment[] = [];
  new ethers.Interface(abiOf(name)).forEachFunction((fragment) => {
    if (!fragment.constant) all.push(fragment);
  });
  return all;
}

function callers(): string[] {
  const { contracts: deployed } = chain.deployment();
  return [
    ...people.map((person) => chain.address(person)),
    ...Object.values(deployed),
    ethers.Wallet.createRandom().address,
  ];
}

/** Calls without a transaction, from any address, because no signature is needed. */
async function call(
  name: (typeof contracts)[number],
  writer: ethers.FunctionFragment,
  from: string,
): Promise<{ errorName: string; errorArgs: unknown[] }> {
  const contract = chain.contract(name);
  const callData = contract.interface.encodeFunctionData(writer, writer.inputs.map(someArgument));
  try {
    await chain.provider.call({ from, to: await contract.getAddress(), data: callData });
    return { errorName: "", errorArgs: [] };
  } catch (error) {
    const data = (error as { data?: string | null }).data ?? "0x";
    const revert = data === "0x" ? null : contract.interface.parseError(data);
    return { errorName: revert?.name ?? "no reason", errorArgs: revert ? [...revert.args] : [] };
  }
}

function someArgument(input: ethers.ParamType): unknown {
  if (input.baseType === "array") return [];
  if (input.type === "address") return "0x00000000000000000000000000000000000000aa";
  if (input.type === "bytes32") return ethers.id("any");
  if (input.type === "bytes") return "0x";
  if (input.type === "bool") return true;
  return 1;
}
