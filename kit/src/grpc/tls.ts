/** A process's certificate and key as PEM, and the authority of all processes. */
export interface TlsIdentity {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}
