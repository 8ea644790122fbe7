import { type Operator, OperatorRole } from "@wonrail/proto/common/v1/common";
import { invalidRequest } from "../contract/errors";
import { enumName } from "../grpc/enums";
import { NotAdmitted } from "../grpc/server/notAdmitted";

/** The roles of operators. Every role may read, and "admin" may do everything. */
export const OPERATOR_ROLES = ["viewer", "support", "treasury", "compliance", "admin"] as const;
export type RoleName = (typeof OPERATOR_ROLES)[number];

/** The line of a method in proto/adminRoles.json. */
export interface AdminRule {
  role: RoleName;
  /** The method changes state: the request must state a reason. */
  changes?: true;
  /** A second operator approves every call, or those calls that the method's handler names. */
  approval?: true | "conditional";
}

/** An operator who may use the method at hand. */
export interface ActingOperator {
  name: string;
  roles: RoleName[];
  /** Empty in a method that only reads. */
  reason: string;
  /** The name in the client's certificate. Absent without TLS. */
  client?: string | undefined;
  /** "wonrail.auth.v1.AuthAdminService/CreateOrganisation" */
  method: string;
  /**
   * "needed": the call becomes a proposal where it would record its action. An id: the operator
   * approves that proposal. Absent: the method needs no approval.
   */
  approval?: "needed" | { proposalId: string };
}

export const OPERATOR_NAME = /^[^\p{Cc}\p{Cf}\p{Cs}]{1,64}$/u;
export const MAX_REASON_LENGTH = 500;

export function mayUse(needed: RoleName, held: readonly RoleName[]): boolean {
  if (held.includes("admin") || held.includes(needed)) return true;
  return needed === "viewer" && held.length > 0;
}

/** Checks the operator that a trusted client stated. Throws for a missing role or reason. */
export function checkOperator(
  { role, changes }: AdminRule,
  stated: Operator | undefined,
  call: Pick<ActingOperator, "method" | "client">,
): ActingOperator {
  const { name = "", roles = [], reason = "" } = stated ?? {};
  if (!OPERATOR_NAME.test(name)) throw refused("operator.name", "must be 1 to 64 printable characters");
  const held = OPERATOR_ROLES.filter((each) => roles.some((one) => roleNameOf(one) === each));
  requireRole(role, { name, roles: held });
  const text = reason.trim();
  if (changes && (text === "" || text.length > MAX_REASON_LENGTH))
    throw refused("reason", `must be 1 to ${MAX_REASON_LENGTH} characters`);
  return { name, roles: held, reason: text, ...call };
}

/** Refuses an operator without the role. */
export function requireRole(role: RoleName, { name, roles }: Pick<ActingOperator, "name" | "roles">): void {
  if (mayUse(role, roles)) return;
  throw new NotAdmitted(`The operator ${name} lacks the role ${role}. Ask an operator who has it.`);
}

export function roleMessage(name: RoleName): OperatorRole {
  return OperatorRole[name.toUpperCase() as Uppercase<RoleName>];
}

function roleNameOf(role: OperatorRole): string | undefined {
  return enumName(OperatorRole, role)?.toLowerCase();
}

function refused(path: string, message: string): Error {
  return invalidRequest([{ path, message }]);
}
