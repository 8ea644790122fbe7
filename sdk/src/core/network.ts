/** The networks that a recorded transaction can name. */
export const NetworkType = {
  /** The default. A service that runs on it watches it and executes on it. */
  WON_TESTNET: "WON_TESTNET",
  /** As WON_TESTNET, in production. */
  WON_MAINNET: "WON_MAINNET",
  ETHEREUM_SEPOLIA: "ETHEREUM_SEPOLIA",
  BASE_SEPOLIA: "BASE_SEPOLIA",
  ARBITRUM_SEPOLIA: "ARBITRUM_SEPOLIA",
  OPTIMISM_SEPOLIA: "OPTIMISM_SEPOLIA",
  POLYGON_AMOY: "POLYGON_AMOY",
  KAIA_KAIROS: "KAIA_KAIROS",
} as const;
export type NetworkType = (typeof NetworkType)[keyof typeof NetworkType];

export interface Network {
  readonly type: NetworkType;
  readonly chainId: number;
  readonly rpcUrl: string;
  /** Where the paths /tx, /address and /block are. */
  readonly explorerUrl: string;
  readonly token: { readonly address: string; readonly symbol: string; readonly decimals: number };
  readonly paymentManagerAddress: string;
}

/**
 * The default test network, as `make up` starts it: its chain id and port, and Otterscan's port for an explorer beside it. The contracts'
 * addresses are those of the first two deployments by the test network's deployer, whose key is public and has no role.
 */
export const defaultNetwork: Network = {
  type: NetworkType.WON_TESTNET,
  chainId: 31337,
  rpcUrl: "http://127.0.0.1:7545",
  explorerUrl: "http://127.0.0.1:5100",
  token: { address: "0x5FbDB2315678afecb367f032d93F642f64180aa3", symbol: "WON", decimals: 6 },
  paymentManagerAddress: "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
};

export type NetworkOverrides = {
  readonly [Field in Exclude<keyof Network, "token">]?: Network[Field] | undefined;
} & {
  readonly token?:
    { readonly [Field in keyof Network["token"]]?: Network["token"][Field] | undefined } | undefined;
};

/** The default network with other values, such as those of a stack of your own. */
export function createNetwork(overrides: NetworkOverrides = {}): Network {
  const token = override(defaultNetwork.token, overrides.token ?? {});
  return { ...override(defaultNetwork, { ...overrides, token: undefined }), token };
}

/** What is undefined, such as a variable that is not set, leaves the preset's. */
function override<T extends object>(
  preset: T,
  overrides: { readonly [Field in keyof T]?: T[Field] | undefined },
): T {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined);
  return { ...preset, ...(Object.fromEntries(given) as Partial<T>) };
}

/** Links to a block explorer. */
export interface ExplorerLinks {
  transaction(hash: string): string;
  address(address: string): string;
  block(number: number | bigint | string): string;
}

export function explorerLinks(network: Pick<Network, "explorerUrl"> = defaultNetwork): ExplorerLinks {
  const base = network.explorerUrl.replace(/\/+$/, "");
  const link = (kind: string, id: string) => `${base}/${kind}/${encodeURIComponent(id)}`;
  return {
    transaction: (hash) => link("tx", hash),
    address: (address) => link("address", address),
    block: (number) => link("block", String(number)),
  };
}
