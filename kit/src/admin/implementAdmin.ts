import { type Operator, type Proposal as ProposalMessage } from "@wonrail/proto/common/v1/common";
import { assert } from "../contract/errors";
import { type Database } from "../db";
import {
  type MethodDefinition,
  type RequestOf,
  type ResponseOf,
  type ServiceDefinition,
} from "../grpc/definition";
import { type GrpcService, type UnaryHandler } from "../grpc/server/implement";
import { type AdminCall, type ApprovedAction, propose } from "./approvals";
import { checkOperator } from "./operators";
import { proposalMessage } from "./proposalMessage";
import { ApprovalNeeded } from "./recordOperatorAction";
import { adminRuleOf } from "./rules";

/** The kit adds the proposal to the answer of a method that needs an approval. */
type AnswerOf<Res> = "proposal" extends keyof Res ? Omit<Res, "proposal"> : Res;

/** Every method needs a handler. */
export type AdminHandlers<D extends ServiceDefinition> = {
  readonly [M in keyof D]: (request: RequestOf<D[M]>, call: AdminCall) => Promise<AnswerOf<ResponseOf<D[M]>>>;
};

/** An admin service with the actions that a second operator approves, by method. */
export interface AdminGrpcService extends GrpcService {
  readonly actions: ReadonlyMap<string, ApprovedAction>;
}

/**
 * Binds handlers to the definition of an admin service. Each call is checked against the method's
 * line in proto/adminRoles.json before its handler runs. A handler of a method that changes state
 * stores an audit row in the transaction of the change. A method with "approval" needs the database,
 * which keeps the proposals. Its handler changes nothing before it records its action.
 */
export function implementAdmin<D extends ServiceDefinition>(
  definition: D,
  handlers: AdminHandlers<D>,
  db?: Database,
): AdminGrpcService {
  const actions = new Map<string, ApprovedAction>();
  const checked = Object.entries(definition).map(([name, method]) => {
    const handler = handlers[name] as unknown as Handler;
    const { approval } = adminRuleOf(method.path.slice(1));
    if (approval === undefined) return [name, checkedHandler(method, handler)];
    actions.set(method.path.slice(1), (bytes, call) =>
      handler(method.requestDeserialize(bytes) as AdminRequest, call),
    );
    return [name, checkedHandler(method, proposingHandler(method, handler, db))];
  });
  return { definition, handlers: Object.fromEntries(checked) as GrpcService["handlers"], actions };
}

/** The actions of all admin services of a process. */
export function actionsOf(services: readonly GrpcService[]): ReadonlyMap<string, ApprovedAction> {
  return new Map(services.flatMap((service) => (hasActions(service) ? [...service.actions] : [])));
}

function hasActions(service: GrpcService): service is AdminGrpcService {
  return "actions" in service;
}

type Handler = (request: AdminRequest, call: AdminCall) => Promise<object>;
type AdminRequest = { operator?: Operator | undefined };

function checkedHandler({ path }: MethodDefinition, handler: Handler): UnaryHandler<AdminRequest, unknown> {
  const method = path.slice(1);
  const rule = adminRuleOf(method);
  return async (request, call) => {
    const operator = checkOperator(rule, request.operator, { method, client: call.caller });
    return handler(request, { ...call, operator });
  };
}

/**
 * Runs the action up to its record, which rolls it back with ApprovalNeeded. So a call that cannot
 * work is refused before an operator approves it. The stored request leaves the operator out.
 */
function proposingHandler(
  { path, requestSerialize }: MethodDefinition,
  handler: Handler,
  db: Database | undefined,
): (request: AdminRequest, call: AdminCall) => Promise<{ proposal: ProposalMessage | undefined }> {
  return async (request, call) => {
    assert(db, `${path} needs a database for its proposals`);
    const { operator } = call;
    try {
      const answer = await handler(request, { ...call, operator: { ...operator, approval: "needed" } });
      return { ...answer, proposal: undefined };
    } catch (error) {
      if (!(error instanceof ApprovalNeeded)) throw error;
      const bytes = requestSerialize({ ...request, operator: undefined } as never);
      return { proposal: proposalMessage(await propose({ db }, bytes, error.action, operator)) };
    }
  };
}
