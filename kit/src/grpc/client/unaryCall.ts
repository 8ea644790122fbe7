import { status } from "@grpc/grpc-js";
import { isOutcomeUnknown, asOutcomeUnknown } from "../../contract/errors";
import { type ObserveCall } from "../callMetrics";
import { type MethodDefinition } from "../definition";
import {
  attempt,
  type CallOptions,
  carriesRequestId,
  codeOf,
  type Dependency,
  guard,
  isUnavailable,
  type Line,
  type Outgoing,
  prepare,
  toCallerError,
} from "./call";
import { withRetry } from "./retry";

export type UnaryCall<Req, Res> = (request: Req, options?: CallOptions) => Promise<Res>;

export function unaryCall(dependency: Dependency, method: MethodDefinition): UnaryCall<unknown, unknown> {
  const send = sender(method, dependency.observed(method));
  return async (request, options = {}) => {
    let unsure = false;
    try {
      const outgoing = prepare(dependency, options);
      const once = () => attempt(dependency, outgoing, (line) => send(line, request, outgoing));
      if (!options.retry || !carriesRequestId(request)) return await once();
      return await withRetry(once, {
        deadlineMs: outgoing.deadlineMs,
        budget: dependency.budget,
        reconnected: () => dependency.channel.reconnected(outgoing.deadlineMs),
        isWorthRetrying: (error) => {
          if (isOutcomeUnknown(toCallerError(error, method.path))) {
            unsure = true;
            options.onUnsure?.();
          }
          return isUnavailable(error);
        },
      });
    } catch (error) {
      const callerError = toCallerError(error, method.path);
      throw unsure ? asOutcomeUnknown(callerError) : callerError;
    }
  };
}

function sender({ path, requestSerialize, responseDeserialize }: MethodDefinition, observe: ObserveCall) {
  const serialize = requestSerialize as (message: unknown) => Buffer;
  return ({ client, metadata, began }: Line, request: unknown, outgoing: Outgoing): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const end = observe();
      const options = { deadline: outgoing.deadlineMs };
      const call = client.makeUnaryRequest(
        path,
        serialize,
        responseDeserialize,
        request,
        metadata,
        options,
        (error, response) => {
          unguard();
          end(error ? codeOf(error) : status.OK);
          if (error) reject(error);
          else resolve(response);
        },
      );
      const unguard = guard(call, outgoing, reject);
      began(call);
    });
}
