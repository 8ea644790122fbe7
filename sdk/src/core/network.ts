/** Networks that a recorded transaction can name. */
export const NetworkType = {
  /** The test network, and the default. A service on this network watches and executes. */
  WON_TESTNET: "WON_TESTNET",
  /** The main network, for production. */
  WON_MAINNET: "WON_MAINNET",
  /** Ethereum's test network Sepolia, for records only. */
  ETHEREUM_SEPOLIA: "ETHEREUM_SEPOLIA",
  /** Base's test network Sepolia, for records only. */
  BASE_SEPOLIA: "BASE_SEPOLIA",
  /** Arbitrum's test network Sepolia, for records only. */
  ARBITRUM_SEPOLIA: "ARBITRUM_SEPOLIA",
  /** Optimism's test network Sepolia, for records only. */
  OPTIMISM_SEPOLIA: "OPTIMISM_SEPOLIA",
  /** Polygon's test network Amoy, for records only. */
  POLYGON_AMOY: "POLYGON_AMOY",
  /** Kaia's test network Kairos, for records only. */
  KAIA_KAIROS: "KAIA_KAIROS",
} as const;
/** Name of a network. */
export type NetworkType = (typeof NetworkType)[keyof typeof NetworkType];

/** A network with its node, its explorer and its contracts. */
export interface Network {
  /** Name of the network in records. */
  readonly type: NetworkType;
  /** Chain id of the network. */
  readonly chainId: number;
  /** JSON-RPC endpoint of a node. */
  readonly rpcUrl: string;
  /** Address of a block explorer with the paths /tx, /address and /block. */
  readonly explorerUrl: string;
  /** The won token. */
  readonly token: {
    /** Address of the token contract. */
    readonly address: string;
    /** Symbol of the token. */
    readonly symbol: string;
    /** Decimals of the token. */
    readonly decimals: number;
  };
  /** Address of the contract that executes settlements. */
  readonly paymentManagerAddress: string;
}

/**
 * The test network that `make up` starts, with Otterscan's port for an explorer. The contract
 * addresses follow from the deployer's first two transactions. Its key is public and has no role.
 */
export const defaultNetwork: Network = {
  type: NetworkType.WON_TESTNET,
  chainId: 31337,
  rpcUrl: "http://127.0.0.1:7545",
  explorerUrl: "http://127.0.0.1:5100",
  token: { address: "0x5FbDB2315678afecb367f032d93F642f64180aa3", symbol: "WON", decimals: 6 },
  paymentManagerAddress: "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
};

/** Values that replace those of the preset. */
export type NetworkOverrides = {
  readonly [Field in Exclude<keyof Network, "token">]?: Network[Field] | undefined;
} & {
  /** Values of the token that replace those of the preset. */
  readonly token?:
    | { readonly [Field in keyof Network["token"]]?: Network["token"][Field] | undefined }
    | undefined;
};

/** Returns the default network with replaced values, such as those of your own stack. */
export function createNetwork(overrides: NetworkOverrides = {}): Network {
  const token = override(defaultNetwork.token, overrides.token ?? {});
  return { ...override(defaultNetwork, { ...overrides, token: undefined }), token };
}

/** An undefined value, such as an unset variable, keeps the value of the preset. */
function override<T extends object>(
  preset: T,
  overrides: { readonly [Field in keyof T]?: T[Field] | undefined },
): T {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined);
  return { ...preset, ...(Object.fromEntries(given) as Partial<T>) };
}

/** Links to a block explorer. */
export interface ExplorerLinks {
  /** Link to a transaction. */
  transaction(hash: string): string;
  /** Link to an address. */
  address(address: string): string;
  /** Link to a block. */
  block(number: number | bigint | string): string;
}

/** Returns functions that link to the network's block explorer. */
export function explorerLinks(network: Pick<Network, "explorerUrl"> = defaultNetwork): ExplorerLinks {
  const base = network.explorerUrl.replace(/\/+$/, "");
  const link = (kind: string, id: string) => `${base}/${kind}/${encodeURIComponent(id)}`;
  return {
    transaction: (hash) => link("tx", hash),
    address: (address) => link("address", address),
    block: (number) => link("block", String(number)),
  };
}
