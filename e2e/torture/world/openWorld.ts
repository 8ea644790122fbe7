import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testLog } from "@wonrail/kit/testing";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { CHAIN_ID } from "@wonrail/local/parts/anvil";
import { type Home, homeAt, makeHome } from "@wonrail/local/home";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { startGuard } from "@wonrail/local/process/guard";
import { provision } from "@wonrail/local/provision";
import { openSecrets } from "@wonrail/local/secrets";
import { type Stack } from "@wonrail/local/stackFile";
import { type OwnCluster, ownCluster } from "../../bus/ownCluster";
import { newOrganisation } from "../../support/operators";
import { type HistoryWriter } from "../historyWriter";
import { createEstate, type Estate } from "../workload/estate";
import { type Chain, startChain } from "./chain";
import { startHaPostgres } from "./haPostgres";
import { createLinks, type Links, placeOf } from "./links";
import { type PostgresServer, startPostgres } from "./postgresServer";
import { type Receiver, startReceiver } from "./receiver";
import { type Replica } from "./replica";
import { gatewayUrls, placeServices, startServices, onFirstMachine } from "./services";

export interface WorldOptions {
  history: HistoryWriter;
  seed: number;
  /** 0: the services read each other's feeds, without Kafka. */
  brokers: number;
  /** True: three PostgreSQL servers instead of one. */
  ha: boolean;
}

/** The whole system with two replicas of each process, and controls for its faults. */
export interface World {
  home: Home;
  /** The addresses without proxies, as the tests' support functions take them. */
  stack: Stack;
  gatewayUrls: string[];
  postgres: PostgresServer;
  kafka?: OwnCluster;
  chain: Chain;
  links: Links;
  replicas: Replica[];
  receiver: Receiver;
  organisations: TortureOrganisation[];
  close(): Promise<void>;
}

export interface TortureOrganisation {
  id: string;
  code: string;
  /** The key that clients send. A rotation changes it. */
  apiKey: string;
  secretKey: string;
  estate: Estate;
}

/** The last organisation reaches its daily limit. */
const DAILY_LIMITS_WON = [1_000_000_000, 1_000_000_000, 150_000];

export function openWorld(options: WorldOptions): Promise<World> {
  return buildWorld((parts) => build(parts, options));
}

async function build(
  parts: Parts,
  { history, seed, brokers, ha }: WorldOptions,
): Promise<Omit<World, "close">> {
  const home = openHome(parts);
  const secrets = openSecrets(home);
  const guard = await parts.use(startGuard(home.dir));
  const links = createLinks(parts);
  const [postgres, chain, kafka, receiver] = await Promise.all([
    parts.use((ha ? startHaPostgres : startPostgres)(home, secrets, guard)),
    startChain(parts, links, { dir: home.dir, guard, secrets, seed }),
    brokers === 0 ? undefined : startKafka(parts, links, brokers),
    parts.use(startReceiver(history)),
  ]);
  const { urls } = await provision(postgres.adminUrl, secrets, testLog());
  const stack: Stack = {
    gatewayUrl: `http://127.0.0.1:${await randomFreePort()}`,
    docsUrl: "",
    consoleUrl: "",
    prometheusUrl: "",
    organisations: [],
    services: await placeServices(),
    postgres: { host: postgres.host, port: postgres.port, urls: { ...urls, admin: postgres.adminUrl } },
    bus: kafka ? { kind: "kafka", brokers: kafka.brokers.join(",") } : { kind: "feed" },
    chain: { rpcUrl: chain.node.url, chainId: CHAIN_ID, ...chain.contracts },
  };
  const replicas = await startServices(parts, {
    home,
    guard,
    secrets,
    links,
    stack,
    kafkaReplication: brokers,
  });
  const world = { home, stack, gatewayUrls: gatewayUrls(stack), postgres, chain, links, replicas, receiver };
  const organisations = await Promise.all(DAILY_LIMITS_WON.map((limit) => openOrganisation(stack, limit)));
  return { ...world, ...(kafka ? { kafka } : {}), organisations };
}

/** PostgreSQL may run as another user, which must be able to enter the folder. */
function openHome(parts: Parts): Home {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-torture-"));
  chmodSync(dir, 0o711);
  parts.onClose(() => rmSync(dir, { recursive: true, force: true }));
  const home = homeAt(dir);
  makeHome(home);
  return home;
}

/** Clients reach the brokers through proxies. */
async function startKafka(parts: Parts, links: Links, brokers: number): Promise<OwnCluster> {
  let number = 0;
  const cluster = await ownCluster(brokers, async (address) => {
    number += 1;
    const { host, port } = await links.add("service-kafka", `services to broker ${number}`, placeOf(address));
    return `${host}:${port}`;
  });
  parts.onClose(() => cluster.remove());
  return cluster;
}

async function openOrganisation(stack: Stack, dailyLimitWon: number): Promise<TortureOrganisation> {
  const terms = ["--incentive-bps", "300", "--daily-limit", String(dailyLimitWon)];
  const { orgId, orgCode, apiKey, secretKey } = await newOrganisation(onFirstMachine(stack), ...terms);
  return { id: orgId, code: orgCode, apiKey, secretKey, estate: createEstate() };
}
