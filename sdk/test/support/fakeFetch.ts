/** A request that the fake fetch received. */
export interface Asked {
  method: string;
  url: URL;
  headers: Headers;
  body: unknown;
}

export type Answer = Response | Error | ((asked: Asked, signal: AbortSignal) => Response | Promise<Response>);

export interface FakeFetch {
  fetch: typeof fetch;
  asked: Asked[];
}

/** Answers in turn and repeats the last answer. */
export function fakeFetch(...answers: Answer[]): FakeFetch {
  const asked: Asked[] = [];
  const answer: typeof fetch = async (input, init = {}) => {
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as unknown) : undefined;
    const request = {
      method: init.method ?? "GET",
      url: new URL(input instanceof Request ? input.url : input),
      headers: new Headers(init.headers),
      body,
    };
    asked.push(request);
    const next = answers[Math.min(asked.length, answers.length) - 1]!;
    if (next instanceof Error) throw next;
    return typeof next === "function" ? next(request, init.signal!) : next.clone();
  };
  return { fetch: answer, asked };
}

export function success(
  data: object,
  { status = 200, headers = {} }: { status?: number; headers?: object } = {},
): Response {
  return envelope(status, { success: true, data, error: null }, headers);
}

export function failure(
  status: number,
  code: string,
  details: object | null = null,
  headers: object = {},
): Response {
  return envelope(
    status,
    { success: false, data: null, error: { code, message: `It is ${code}.`, details } },
    headers,
  );
}

function envelope(status: number, body: object, headers: object): Response {
  const around = { requestId: "req_1", timestamp: "2026-01-14T00:30:00.000Z" };
  return new Response(JSON.stringify({ ...body, ...around }), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

/** Never answers; ends with the signal, as fetch does. */
export function silence(_asked: Asked, signal: AbortSignal): Promise<Response> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
