export { createAdminService, readLimit } from "./adminService";
export { type AdminCall } from "./approvals";
export { actionsOf, type AdminHandlers, implementAdmin } from "./implementAdmin";
export { listOperatorActions, type NewOperatorAction, verifyOperatorActions } from "./operatorActions";
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
export { type ActionEffect } from "./proposalRules";
export { recordOperatorAction, requireApproval } from "./recordOperatorAction";
export { readAdminRules } from "./rules";
export { watchProposals } from "./watchProposals";
