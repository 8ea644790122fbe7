/** Who a process is on the wire, as PEM, and the authority that signed it and everyone it talks to. */
export interface TlsIdentity {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}
