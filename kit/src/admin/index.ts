export { createAdminService, readLimit } from "./adminService";
export { type AdminCall, type AdminHandlers, implementAdmin } from "./implementAdmin";
export {
  listOperatorActions,
  type NewOperatorAction,
  recordOperatorAction,
  verifyOperatorActions,
} from "./operatorActions";
export { type ActingOperator, type RoleName, roleMessage } from "./operators";
