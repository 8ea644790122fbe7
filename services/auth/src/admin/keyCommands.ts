import { Command } from "commander";
import { type Scope, SCOPES } from "@wonrail/kit/contract/scopes";
import { jsonOption, limitOption, lines, print, reasonOption, table, time } from "@wonrail/kit/command";
import { type ApiKey, KeyStatus } from "@wonrail/proto/auth/v1/auth";
import { enumName } from "@wonrail/kit/grpc/client";
import { scopes, words } from "./options";
import { withSecretShown, withAuth, type World } from "./withAuth";

interface KeyOptions {
  org: string;
  json?: boolean;
}

interface IssueOptions {
  reason: string;
  name?: string;
  scopes?: Scope[];
  allowedAddresses?: string[];
  expires?: Date;
}

interface RevokeOptions extends KeyOptions {
  reason: string;
  key: string;
  withSuccessors?: boolean;
  leaked?: boolean;
}

export function keyCommands(world: World): Command {
  return new Command("key")
    .description("API keys of an organisation")
    .addCommand(ofOrganisation(issue(world)))
    .addCommand(ofOrganisation(list(world)))
    .addCommand(ofOrganisation(revoke(world)));
}

function ofOrganisation(command: Command): Command {
  return command.requiredOption("--org <code>", "which organisation").addOption(jsonOption());
}

function issue(world: World): Command {
  return new Command("issue")
    .description("issue another API key; it is shown once")
    .option("--name <name>", "what the key is for")
    .option("--scopes <scopes>", "its scopes, separated by commas; default: all", scopes)
    .option(
      "--allowed-addresses <ranges>",
      "addresses and CIDR ranges that may use it, separated by commas",
      words,
    )
    .option("--expires <time>", "expiry, instead of the configured lifetime", time)
    .addOption(reasonOption())
    .action(async (options: KeyOptions & IssueOptions) => {
      const { org, expires, json, name, scopes = [], allowedAddresses = [], reason } = options;
      const input = { code: org, name, scopes, allowedAddresses, expiresAt: expires };
      await withSecretShown(
        world,
        reason,
        (auth, operator) => auth.issueOrganisationKey({ operator, ...input }),
        ({ key, apiKey }) => {
          const { prefix, name } = key!;
          const expiresAt = key!.expiresAt!.toISOString();
          const result = { orgCode: org, prefix, name, ...grantOf(key!), apiKey, expiresAt };
          print(world, json, result, [
            ...lines(result),
            "",
            "Hand the key over now: it cannot be shown again.",
          ]);
        },
      );
    });
}

function list(world: World): Command {
  return new Command("list")
    .description("the keys of an organisation, newest first")
    .addOption(limitOption())
    .action(async ({ org, limit, json }: KeyOptions & { limit: number }) => {
      const { keys } = await withAuth(world, (auth, operator) =>
        auth.listOrganisationKeys({ operator, code: org, limit }),
      );
      const rows = keys.map((key) => ({
        prefix: key.prefix,
        name: key.name,
        state: enumName(KeyStatus, key.status),
        ...grantOf(key),
        lastUsedAt: key.lastUsedAt?.toISOString() ?? "",
        issuedAt: key.issuedAt!.toISOString(),
        usableUntil: (key.revokedAt ?? key.overlapEndsAt ?? key.expiresAt!).toISOString(),
      }));
      print(
        world,
        json,
        rows,
        table(rows, ["prefix", "name", "state", "scopes", "allowedAddresses", "lastUsedAt", "usableUntil"]),
      );
    });
}

function revoke(world: World): Command {
  return new Command("revoke")
    .description("revoke a key for good, on every gateway within a second")
    .requiredOption("--key <prefix>", "the key's prefix, as key list shows it")
    .option("--with-successors", "revoke the keys that were refreshed from it too")
    .option("--leaked", "others know the key: implies --with-successors and is kept in the audit trail")
    .addOption(reasonOption())
    .action(async ({ org, key: prefix, withSuccessors, leaked, reason, json }: RevokeOptions) => {
      const wanted = { withSuccessors: withSuccessors === true, leaked: leaked === true };
      const { revokedAt, prefixes } = await withAuth(
        world,
        (auth, operator) => auth.revokeOrganisationKey({ operator, code: org, prefix, ...wanted }),
        reason,
      );
      const result = { orgCode: org, prefix, revoked: true, revokedAt: revokedAt!.toISOString() };
      print(world, json, { ...result, revokedKeys: prefixes }, [
        ...lines(result),
        ...lines({ revokedKeys: prefixes.join(", ") || "none, they were revoked before" }),
      ]);
    });
}

/** Scopes and addresses as the options of `key issue` take them. */
function grantOf({ scopes, allowedAddresses }: ApiKey) {
  return {
    scopes: scopes.length === SCOPES.length ? "all" : scopes.join(","),
    allowedAddresses: allowedAddresses.join(","),
  };
}
