import { type ServerUnaryCall } from "@grpc/grpc-js";
import { assert } from "../../contract/errors";
import { type MethodDefinition } from "../definition";
import { type GrpcService } from "./implement";

export type AuthContext = ReturnType<ServerUnaryCall<unknown, unknown>["getAuthContext"]>;

/** Allowed callers: "wonrail.auth.v1.AuthService/ResolveKey" → names in certificates. */
export type CallerRules = Readonly<Record<string, readonly string[]>>;

/** The caller's name, or `refused` when the method excludes it. */
export type Admission = { refused: false; caller?: string } | { refused: true };

/** Decides by the client's certificate. Without TLS every caller is admitted without a name. */
export type Admit = (authContext: () => AuthContext) => Admission;

export function admitFor(method: MethodDefinition, rules: CallerRules | undefined, tls: boolean): Admit {
  if (!tls) return () => ({ refused: false });
  if (!rules) return (authContext) => admitted(namesIn(authContext())[0]);
  const allowed = rules[ruleName(method)] ?? [];
  return (authContext) => {
    const caller = namesIn(authContext()).find((name) => allowed.includes(name));
    return caller === undefined ? { refused: true } : admitted(caller);
  };
}

/** Rules must be complete: a method without a rule would be open to all or to none by accident. */
export function assertComplete(rules: CallerRules, services: readonly GrpcService[]): void {
  const methods = services.flatMap(({ definition }) => Object.values(definition).map(ruleName));
  const missing = methods.filter((name) => !Object.hasOwn(rules, name));
  const unknown = Object.keys(rules).filter((name) => !methods.includes(name));
  assert(missing.length === 0, `callers has no rule for ${missing.join(", ")}`);
  assert(unknown.length === 0, `callers has a rule for ${unknown.join(", ")}, which is not served`);
}

function admitted(caller: string | undefined): Admission {
  return caller === undefined ? { refused: false } : { refused: false, caller };
}

function ruleName(method: MethodDefinition): string {
  return method.path.slice(1);
}

/**
 * The DNS and URI names of the certificate; its common name only without either, as in RFC 6125.
 */
function namesIn({ sslPeerCertificate: certificate }: AuthContext): string[] {
  if (!certificate) return [];
  // Node quotes a name with a separator. None of our names has one, so such an entry is ignored.
  const names = (certificate.subjectaltname ?? "")
    .split(", ")
    .filter((entry) => !entry.includes('"'))
    .flatMap((entry) => /^(?:DNS|URI):(.+)$/.exec(entry)?.[1] ?? []);
  if (names.length > 0) return names;
  const commonName: unknown = certificate.subject?.CN;
  return typeof commonName === "string" ? [commonName] : [];
}
