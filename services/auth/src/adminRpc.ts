import { type AdminHandlers, implementAdmin, readLimit } from "@wonrail/kit/admin";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { parseWon } from "@wonrail/kit/contract/money";
import { isScope } from "@wonrail/kit/contract/scopes";
import { type Database } from "@wonrail/kit/db";
import { enumFilter, type GrpcService } from "@wonrail/kit/grpc/server";
import {
  type AuditEntry as AuditEntryMessage,
  AuthAdminServiceService,
  type IssueOrganisationKeyRequest,
  type OrganisationTerms as TermsMessage,
} from "@wonrail/proto/auth/v1/admin";
import { OrganisationStatus, Plan, Quota } from "@wonrail/proto/auth/v1/auth";
import { type Operations } from "./app";
import { type AuditEntry } from "./domain/auditEntries";
import { type KeyGrant } from "./domain/grants";
import { type OrganisationTerms } from "./domain/organisations";
import { keyMessage, organisationMessage, usageMessage } from "./messages";

/** The operators' gRPC methods. The kit has checked the operator's role and reason. */
export function adminRpc(app: Operations, db: Database): GrpcService {
  const handlers: AdminHandlers<typeof AuthAdminServiceService> = {
    async search({ text }) {
      return { hits: await app.search(text.trim()) };
    },

    async getOrganisationDetails({ by }) {
      if (by === undefined) throw invalidRequest([{ path: "by", message: "must be an id or a code" }]);
      const details = await app.getOrganisationDetails(
        by.$case === "orgId" ? { orgId: by.value } : { code: by.value },
      );
      return {
        organisation: organisationMessage(details.organisation),
        subscriptionActive: details.subscriptionActive,
        usage: details.usage.map(usageMessage),
        months: details.months.map(({ quota, ...month }) => ({ ...month, quota: Quota[quota] })),
      };
    },

    async createOrganisation({ code, terms }, { operator: actor }) {
      const input = { name: "", ...termsOf(terms), code, actor };
      const { organisation, key, apiKey, secretKey } = await app.createOrganisation(input);
      const message = keyMessage(key, organisation.createdAt);
      return { organisation: organisationMessage(organisation), key: message, apiKey, secretKey };
    },

    async setOrganisation({ code, terms }, { operator: actor }) {
      const organisation = await app.setOrganisation({ code, change: termsOf(terms), actor });
      return { organisation: organisationMessage(organisation) };
    },

    async rotateOrganisationSecret({ code }, { operator: actor }) {
      const { secretKey } = await app.rotateSecretKey({ code, actor });
      return { secretKey };
    },

    async listOrganisations({ afterCode, limit }) {
      const found = await app.listOrganisations({ afterCode, limit: readLimit(limit) });
      return {
        organisations: found.map(({ organisation, subscriptionActive }) => ({
          organisation: organisationMessage(organisation),
          subscriptionActive,
        })),
      };
    },

    async issueOrganisationKey(request, { operator: actor }) {
      const { code, expiresAt } = request;
      const expiry = expiresAt === undefined ? {} : { expiresAt };
      const { key, apiKey } = await app.issueKey({ code, grant: grantOf(request), actor, ...expiry });
      return { key: keyMessage(key, key.issuedAt), apiKey };
    },

    async listOrganisationKeys({ code, limit }) {
      const { keys, now } = await app.listKeys({ code, limit: readLimit(limit) });
      return { keys: keys.map((key) => keyMessage(key, now)) };
    },

    async revokeOrganisationKey({ code, prefix, withSuccessors, leaked }, { operator: actor }) {
      const input = { code, prefix, actor, withSuccessors, isLeaked: leaked };
      const { revokedAt, prefixes } = await app.revokeKeyOf(input);
      return { revokedAt, prefixes };
    },

    async listAuditEntries({ code, beforeSequence, limit }) {
      const before = beforeSequence === undefined ? {} : { before: beforeSequence };
      const entries = await app.listAudit({ code, limit: readLimit(limit), ...before });
      return { entries: entries.map(auditMessage) };
    },

    async verifyAuditTrail() {
      const { entries, ...report } = await app.verifyAudit();
      return { ...report, entries: BigInt(entries) };
    },
  };
  return implementAdmin(AuthAdminServiceService, handlers, db);
}

/** The stated terms. An absent term is absent in the result too. */
function termsOf(terms: TermsMessage | undefined): Partial<OrganisationTerms> {
  if (terms === undefined) return {};
  const { name, subscriptionStartsAt, subscriptionEndsAt, incentiveRateBps, ratePerSecond, rateBurst } =
    terms;
  const stated = {
    ...{ name, subscriptionStartsAt, subscriptionEndsAt, incentiveRateBps, ratePerSecond, rateBurst },
    status: enumFilter(OrganisationStatus, terms.status, "status"),
    plan: enumFilter(Plan, terms.plan, "plan"),
    dailyTransferLimitWon: amountOf(terms.dailyTransferLimitWon, "dailyLimit"),
    dailyChargeLimitWon: amountOf(terms.dailyChargeLimitWon, "dailyChargeLimit"),
    maxChargeWon: amountOf(terms.maxChargeWon, "maxCharge"),
  };
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined));
}

function amountOf(text: string | undefined, path: string) {
  return text === undefined ? undefined : parseWon(text, path);
}

function grantOf({ name, scopes, allowedAddresses }: IssueOrganisationKeyRequest): Partial<KeyGrant> {
  const known = scopes.filter(isScope);
  if (known.length < scopes.length)
    throw invalidRequest([{ path: "scopes", message: "must be scopes that this release knows" }]);
  return {
    ...(name === undefined ? {} : { name }),
    ...(known.length === 0 ? {} : { scopes: known }),
    ...(allowedAddresses.length === 0 ? {} : { allowedAddresses }),
  };
}

function auditMessage(entry: AuditEntry): AuditEntryMessage {
  const { sequence, occurredAt, actor, action, subject, details, requestId, hash } = entry;
  return { sequence, occurredAt, actor, action, subject, detailsJson: details, requestId, hash };
}
