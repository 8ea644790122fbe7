import { createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo } from "node:net";

export type Claims = Record<string, unknown>;

export interface TestProvider {
  issuer: string;
  /** The claims of each account by its login. */
  accounts: Map<string, Claims>;
  /** Replaces the ID token of the next answers. */
  forge?: ((token: string) => string) | undefined;
  /** Signs claims with the provider's own key. */
  sign(claims: Claims): string;
  close(): Promise<void>;
}

export const CLIENT = { id: "wonrail-console", secret: "a-secret-of-the-client" };

/** A certified OpenID Connect provider with one client. Any password signs an account in. */
export async function startIdentityProvider(consoleUrl: string): Promise<TestProvider> {
  const { default: Provider } = await import("oidc-provider");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  let handler: RequestListener = () => undefined;
  const server = createServer((req, res) => handler(req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accounts = new Map<string, Claims>();

  // Copied, because the provider tells plain objects by the prototype, and Jest has another one.
  const settings = structuredClone({
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${consoleUrl}/auth/callback`],
        post_logout_redirect_uris: [`${consoleUrl}/`],
      },
    ],
    claims: { openid: ["sub", "roles"], email: ["email", "email_verified"], profile: ["name"] },
    conformIdTokenClaims: false,
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: KEY_ID }] },
    cookies: { keys: ["test"] },
  });
  const provider = new Provider(
    issuer,
    Object.assign(settings, {
      findAccount: (_ctx: unknown, id: string) => ({
        accountId: id,
        claims: async () => structuredClone({ sub: id, ...accounts.get(id) }),
      }),
    }),
  );
  const found: TestProvider = {
    issuer,
    accounts,
    sign: (claims) => signToken(claims, privateKey),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  provider.use(async (ctx, next) => {
    await next();
    const body = ctx.body as { id_token?: string } | undefined;
    if (ctx.path === "/token" && found.forge && body?.id_token) body.id_token = found.forge(body.id_token);
  });
  const callback = provider.callback();
  handler = (req, res) => void callback(req, res);
  return found;
}

const KEY_ID = "test-key";

/** A JWT by RS256. */
export function signToken(claims: Claims, key: KeyObject): string {
  const text = `${encode({ alg: "RS256", typ: "JWT", kid: KEY_ID })}.${encode(claims)}`;
  return `${text}.${createSign("sha256").update(text).sign(key, "base64url")}`;
}

export function claimsOf(token: string): Claims {
  return JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()) as Claims;
}

export function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
