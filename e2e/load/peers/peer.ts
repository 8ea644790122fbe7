/** Another ledger behind its public API: accounts with money, and transfers between two of them. */
export interface Peer {
  transfer(from: number, to: number): Promise<void>;
  close(): Promise<void>;
}

export type OpenPeer = (address: string, accounts: number) => Promise<Peer>;
