import { type createClient } from "@wonrail/kit/grpc/client";
import { type Story } from "./story";

export type ServiceDefinition = Parameters<typeof createClient>[0];
export type MethodDefinition = ServiceDefinition[string];

/** A method as one consumer calls it. */
export interface Call {
  caller: string;
  server: string;
  definition: ServiceDefinition;
  /** The method's name in the definition. */
  name: string;
  method: MethodDefinition;
  /** A valid encoded request of the consumer; a new one each time where requests are unique. */
  good(story: Story): Promise<Buffer>;
  /**
   * An invalid request, with the server's refusal as code and field. Null where every request is
   * valid.
   */
  bad: { request: (story: Story) => Promise<Buffer>; refusal: string } | null;
}

interface Row<Request> {
  good: (story: Story) => Request | Promise<Request>;
  bad: readonly [refusal: string, spoil: (good: Request) => Request] | null;
}

type Rows<D extends ServiceDefinition> = {
  readonly [M in keyof D]?: Row<ReturnType<D[M]["requestDeserialize"]>>;
};

/** The calls of one consumer to one service. */
export function calls<D extends ServiceDefinition>(
  caller: string,
  server: string,
  definition: D,
  rows: Rows<NoInfer<D>>,
): Call[] {
  return Object.entries(rows as unknown as Record<string, Row<never>>).map(([name, { good, bad }]) => {
    const method = definition[name]!;
    return {
      ...{ caller, server, definition, name, method },
      good: async (story) => method.requestSerialize(await good(story)),
      bad: bad && {
        refusal: bad[0],
        request: async (story) => method.requestSerialize(bad[1](await good(story))),
      },
    };
  });
}

/** One of a message's alternatives, as the generated code writes it. */
export function choice<C extends string, V>($case: C, value: V) {
  return { $case, value };
}
