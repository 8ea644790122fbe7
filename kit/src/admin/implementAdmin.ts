import { type Operator } from "@wonrail/proto/common/v1/common";
import {
  type MethodDefinition,
  type RequestOf,
  type ResponseOf,
  type ServiceDefinition,
} from "../grpc/definition";
import { type GrpcService, type ServerCall, type UnaryHandler } from "../grpc/server/implement";
import { type ActingOperator, checkOperator } from "./operators";
import { adminRuleOf } from "./rules";

/** A call with its operator. The kit has checked the role and the reason. */
export interface AdminCall extends ServerCall {
  readonly operator: ActingOperator;
}

/** Every method needs a handler. */
export type AdminHandlers<D extends ServiceDefinition> = {
  readonly [M in keyof D]: (request: RequestOf<D[M]>, call: AdminCall) => Promise<ResponseOf<D[M]>>;
};

/**
 * Binds handlers to the definition of an admin service. Each call is checked against the method's
 * line in proto/adminRoles.json before its handler runs. A handler of a method that changes state
 * stores an audit row in the transaction of the change.
 */
export function implementAdmin<D extends ServiceDefinition>(
  definition: D,
  handlers: AdminHandlers<D>,
): GrpcService {
  const checked = Object.entries(definition).map(([name, method]) => [
    name,
    checkedHandler(method, handlers[name] as UnknownHandler),
  ]);
  return { definition, handlers: Object.fromEntries(checked) as GrpcService["handlers"] };
}

type UnknownHandler = (request: unknown, call: AdminCall) => Promise<unknown>;
type AdminRequest = { operator?: Operator | undefined };

function checkedHandler(
  { path }: MethodDefinition,
  handler: UnknownHandler,
): UnaryHandler<AdminRequest, unknown> {
  const method = path.slice(1);
  const rule = adminRuleOf(method);
  return async (request, call) => {
    const operator = checkOperator(rule, request.operator, { method, client: call.caller });
    return handler(request, { ...call, operator });
  };
}
