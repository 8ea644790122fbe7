import { type Operator, OperatorRole } from "@wonrail/proto/common/v1/common";

/** The operator of a request that only reads. */
export const viewer: Operator = { name: "viewer", roles: [OperatorRole.VIEWER], reason: "" };

/** An operator who may read partners' events too. */
export const supporter: Operator = { name: "supporter", roles: [OperatorRole.SUPPORT], reason: "" };
