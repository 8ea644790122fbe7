export type RoleName = "viewer" | "support" | "treasury" | "compliance" | "admin";

/** The line of a method in proto/adminRoles.json. */
export interface MethodRule {
  role: RoleName;
  changes?: true;
  /** A second operator must approve. */
  approval?: true | "conditional";
}

/** By names such as "wonrail.relayer.v1.RelayerAdminService/PauseQueue". */
export type MethodRules = Readonly<Record<string, MethodRule>>;

/** The service checks the roles too: this only keeps useless buttons away. */
export function mayUse(rule: MethodRule | undefined, roles: readonly RoleName[]): boolean {
  if (rule === undefined) return false;
  if (roles.includes("admin") || roles.includes(rule.role)) return true;
  return rule.role === "viewer" && roles.length > 0;
}
