export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body of a JSON answer. */
  json: Envelope;
}

interface Envelope {
  success: boolean;
  data: Record<string, unknown>;
  error: { code: string; details: Record<string, unknown> | null };
}

export type Browser = ReturnType<typeof openBrowser>;

/** A browser as far as the console sees it: cookies per origin, and redirects on request. */
export function openBrowser(home: string) {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (origin: string) => {
    if (!jars.has(origin)) jars.set(origin, new Map());
    return jars.get(origin)!;
  };

  async function request(method: string, place: string, init: RequestInit = {}): Promise<Answer> {
    const url = new URL(place, home);
    const jar = jarOf(url.origin);
    const headers = new Headers(init.headers);
    if (jar.size > 0) headers.set("cookie", [...jar].map((pair) => pair.join("=")).join("; "));
    const response = await fetch(url, { ...init, method, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = line.split(";")[0]!.split(/=(.*)/s) as [string, string];
      if (value === "" || /expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    const json = (isJson ? JSON.parse(text) : {}) as Envelope;
    return { status: response.status, headers: response.headers, text, json };
  }

  return {
    cookies: jarOf(new URL(home).origin),
    request,
    get: (place: string) => request("GET", place),
    postForm: (place: string, form: Record<string, string>) =>
      request("POST", place, { body: new URLSearchParams(form) }),

    /** As a page of the console posts. */
    async post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
      const session = await request("GET", "/api/session");
      const csrfToken = String(session.json.data?.csrfToken);
      return request("POST", path, {
        body: JSON.stringify(body),
        headers: {
          origin: new URL(home).origin,
          "content-type": "application/json",
          "x-csrf-token": csrfToken,
          ...headers,
        },
      });
    },

    /** Follows redirects. */
    async visit(place: string): Promise<Answer & { url: string }> {
      let url = new URL(place, home);
      for (let hops = 0; hops < 20; hops += 1) {
        const answer = await request("GET", url.href);
        const next = answer.headers.get("location");
        if (answer.status < 300 || answer.status > 399 || next === null) return { ...answer, url: url.href };
        url = new URL(next, url);
      }
      throw new Error(`${place} redirects without an end`);
    },
  };
}
