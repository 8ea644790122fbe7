import { type Client, type ClientReadableStream, type Metadata, status } from "@grpc/grpc-js";
import { type MethodDefinition } from "../definition";
import {
  attempt,
  type CallOptions,
  codeOf,
  type Dependency,
  guard,
  type Outgoing,
  prepare,
  toCallerError,
} from "./call";

export type ServerStreamCall<Req, Res> = (request: Req, options?: CallOptions) => AsyncIterable<Res>;

/** Messages are fetched on demand; leaving the loop ends the call. */
export function serverStreamCall(
  dependency: Dependency,
  method: MethodDefinition,
): ServerStreamCall<unknown, unknown> {
  const { path, responseDeserialize } = method;
  const serialize = method.requestSerialize as (message: unknown) => Buffer;
  return (request, options = {}) =>
    receive(dependency, method, options, (client, metadata, deadline) =>
      client.makeServerStreamRequest(path, serialize, responseDeserialize, request, metadata, { deadline }),
    );
}

type Open = (client: Client, metadata: Metadata, deadline: number) => ClientReadableStream<unknown>;

async function* receive(
  dependency: Dependency,
  method: MethodDefinition,
  options: CallOptions,
  open: Open,
): AsyncGenerator<unknown, void> {
  const end = dependency.observed(method)();
  let code = status.CANCELLED;
  let release: () => void = () => undefined;
  try {
    const outgoing = prepare(dependency, options);
    // The breaker judges the start of the call: a sign of life from the server, or none.
    const { messages, first } = await attempt(dependency, outgoing, async ({ client, metadata, began }) => {
      const call = open(client, metadata, outgoing.deadlineMs);
      began(call);
      const started = start(call, outgoing);
      release = started.release;
      await started.signOfLife;
      return started;
    });
    for (let next = await first; !next.done; next = await messages.next()) yield next.value;
    code = status.OK;
  } catch (error) {
    code = codeOf(error);
    throw toCallerError(error, method.path);
  } finally {
    release();
    end(code);
  }
}

function start(call: ClientReadableStream<unknown>, outgoing: Outgoing) {
  // The call may fail without a reader, and an error without a listener would end the process.
  call.on("error", () => undefined);
  const unguard = guard(call, outgoing, (error) => call.destroy(error));
  const messages: AsyncIterator<unknown, void> = call[Symbol.asyncIterator]();
  const first = messages.next();
  const headers = new Promise((resolve) => call.once("metadata", resolve));
  return {
    messages,
    first,
    signOfLife: Promise.race([headers, first]),
    release: () => {
      unguard();
      call.cancel();
    },
  };
}
