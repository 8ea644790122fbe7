import { readFileSync } from "node:fs";
import { assert } from "../contract/errors";
import { type AdminRule } from "./operators";

/** Service → RPC → rule. */
type RuleTable = Readonly<Record<string, Readonly<Record<string, AdminRule>>>>;

let table: RuleTable | undefined;

/** The rule of a method such as "wonrail.auth.v1.AuthAdminService/CreateOrganisation". */
export function adminRuleOf(method: string): AdminRule {
  const [service, name] = method.split("/");
  const rule = readAdminRules()[service!]?.[name!];
  assert(rule !== undefined, `proto/adminRoles.json has no rule for ${method}`);
  return rule;
}

/** The content of proto/adminRoles.json. */
export function readAdminRules(): RuleTable {
  table ??= JSON.parse(readFileSync(require.resolve("@wonrail/proto/adminRoles"), "utf8")) as RuleTable;
  return table;
}
