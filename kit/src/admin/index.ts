export { createAdminService, readLimit } from "./adminService";
export { type AdminCall, type AdminHandlers, implementAdmin } from "./implementAdmin";
export {
  listOperatorActions,
  type NewOperatorAction,
  recordOperatorAction,
  verifyOperatorActions,
} from "./operatorActions";
export {
  type ActingOperator,
  type AdminRule,
  MAX_REASON_LENGTH,
  mayUse,
  OPERATOR_NAME,
  OPERATOR_ROLES,
  type RoleName,
  roleMessage,
} from "./operators";
export { readAdminRules } from "./rules";
