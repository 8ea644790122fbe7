import { OPERATOR_NAME, OPERATOR_ROLES } from "@wonrail/kit/admin";
import { type Config, isLoopback } from "../config";
import { ConsoleError } from "../errors";
import { type Identity, type PendingSignIn } from "../store/signIns";

const TIMEOUT_SECONDS = 10;

/** The OpenID Connect provider: authorization code flow with PKCE, state and nonce. */
export interface IdentityProvider {
  /** The provider's page to send the browser to. */
  begin(): Promise<{ url: string; pending: Omit<PendingSignIn, "returnTo"> }>;
  /** Exchanges the code in the callback's query for the claims of the operator. */
  finish(query: string, pending: PendingSignIn): Promise<Identity>;
  /** The page that ends the provider's own session. Undefined when it has none. */
  endSessionUrl(): Promise<string | undefined>;
}

type Settings = Pick<
  Config,
  | "PUBLIC_URL"
  | "OIDC_CLIENT_SECRET"
  | "OIDC_SCOPE"
  | "OIDC_NAME_CLAIM"
  | "OIDC_ROLES_CLAIM"
  | "OIDC_ISSUER"
  | "OIDC_CLIENT_ID"
>;

/** Undefined without OIDC_ISSUER. The provider is contacted when the first operator signs in. */
export function createIdentityProvider(settings: Settings): IdentityProvider | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = settings;
  if (issuer === undefined || clientId === undefined) return undefined;
  const callbackUrl = new URL("/auth/callback", settings.PUBLIC_URL);
  let discovered: ReturnType<typeof discover> | undefined;

  async function discover(issuerUrl: string, client: string) {
    // The package is an ES module.
    const oidc = await import("openid-client");
    const secret = settings.OIDC_CLIENT_SECRET;
    const authentication = secret === undefined ? oidc.None() : oidc.ClientSecretBasic(secret);
    const server = await oidc.discovery(new URL(issuerUrl), client, {}, authentication, {
      timeout: TIMEOUT_SECONDS,
      // Without the checks the library trusts an ID token that came over TLS, whatever its signature.
      execute: [
        oidc.enableNonRepudiationChecks,
        ...(isLoopback(issuerUrl) ? [oidc.allowInsecureRequests] : []),
      ],
    });
    return { oidc, server };
  }

  /** A failed discovery is repeated at the next sign-in. */
  async function connect(issuerUrl: string, client: string) {
    discovered ??= discover(issuerUrl, client);
    try {
      return await discovered;
    } catch (error) {
      discovered = undefined;
      throw failed("the identity provider cannot be reached", error);
    }
  }

  return {
    async begin() {
      const { oidc, server } = await connect(issuer, clientId);
      const codeVerifier = oidc.randomPKCECodeVerifier();
      const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
      const url = oidc.buildAuthorizationUrl(server, {
        redirect_uri: callbackUrl.href,
        scope: settings.OIDC_SCOPE,
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
        state,
        nonce,
      });
      return { url: url.href, pending: { state, nonce, codeVerifier } };
    },

    async finish(query, { state, nonce, codeVerifier }) {
      const { oidc, server } = await connect(issuer, clientId);
      const answer = new URL(callbackUrl);
      answer.search = query;
      try {
        const tokens = await oidc.authorizationCodeGrant(server, answer, {
          pkceCodeVerifier: codeVerifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        });
        return identityOf(tokens.claims() ?? {}, settings);
      } catch (error) {
        if (error instanceof ConsoleError) throw error;
        throw failed("the identity provider's answer is not valid", error);
      }
    },

    async endSessionUrl() {
      const { oidc, server } = await connect(issuer, clientId);
      if (server.serverMetadata().end_session_endpoint === undefined) return undefined;
      const parameters = { post_logout_redirect_uri: new URL("/", settings.PUBLIC_URL).href };
      return oidc.buildEndSessionUrl(server, parameters).href;
    },
  };
}

function identityOf(
  claims: Readonly<Record<string, unknown>>,
  { OIDC_NAME_CLAIM: nameClaim, OIDC_ROLES_CLAIM: rolesClaim }: Settings,
): Identity {
  const name = claims[nameClaim];
  if (typeof name !== "string" || !OPERATOR_NAME.test(name))
    throw failed(`the claim ${nameClaim} must be 1 to 64 printable characters`);
  // Another person could enter the address of a colleague.
  if (nameClaim === "email" && claims.email_verified === false)
    throw failed("the identity provider has not verified the email address");
  const given: unknown[] = [claims[rolesClaim]].flat();
  const roles = OPERATOR_ROLES.filter((role) => given.includes(role));
  if (roles.length === 0) throw failed(`the claim ${rolesClaim} names no role of the console`);
  return { operator: name, roles };
}

function failed(reason: string, cause?: unknown): ConsoleError {
  return new ConsoleError("CON_004", { reason }, { cause });
}
