/** Form of a transaction's hash on the chain. */
export const TX_HASH_FORM = /^0x[0-9a-fA-F]{64}$/;
