import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { call, type CallOptions } from "./call";
import { mayUse, type MethodRule } from "./roles";
import { type AnswerOf, type Method, type RequestOf } from "./services";
import { currentSession } from "./session";

interface RpcOptions extends Pick<CallOptions, "service"> {
  refetchMs?: number;
}

/** Reads by an RPC. Not asked when the operator lacks the role. */
export function useRpc<M extends Method>(
  method: M,
  request: RequestOf<M>,
  { service, refetchMs }: RpcOptions = {},
): UseQueryResult<AnswerOf<M>> {
  return useQuery({
    queryKey: [method, service, request],
    queryFn: ({ signal }) => call(method, request, { service, signal }),
    enabled: isAllowed(method),
    ...(refetchMs === undefined ? {} : { refetchInterval: refetchMs }),
  });
}

/** The rule of a method; undefined when no service serves it. */
export function ruleOf(method: string): MethodRule | undefined {
  return currentSession().methods[method];
}

export function isAllowed(method: string): boolean {
  return mayUse(ruleOf(method), currentSession().operator.roles);
}
