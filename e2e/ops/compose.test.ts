import Ajv, { type AnySchema } from "ajv";
import { parse } from "yaml";
import { DEPLOYED, calledBy, readText, settingsOf, youngFlag } from "./repository";

interface Service {
  image?: string;
  build?: { dockerfile: string; args: Record<string, string> };
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }> | string[];
  healthcheck?: { test: string[] };
  volumes?: string[];
  ports?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  user?: string;
}
const compose = parse(readText("deploy/compose.yaml"), { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const entries = Object.entries(compose.services);

describe("deploy/compose.yaml", () => {
  it.each(DEPLOYED.map((each) => [each.name, each] as const))(
    "tells %s what its code reads, and whom it calls",
    (name, process) => {
      const { environment = {}, depends_on = {} } = compose.services[name]!;
      // The chain's addresses are one shared block.
      const known = new Set([...settingsOf(process), "CHAIN_ID", "PAYMENT_MANAGER_ADDRESS"]);
      const strangers = Object.keys(environment).filter(
        (key) => key !== "NODE_OPTIONS" && !known.has(key.replace(/_FILE$/, "")),
      );
      expect(strangers).toEqual([]);
      const addresses = Object.entries(environment).filter(([key]) =>
        /^(AUTH|WALLET|LEDGER|PAYMENT|RELAYER|EVENTS)_ADDRESS$/.test(key),
      );
      expect(addresses.map(([, value]) => value.replace(":7000", "")).sort()).toEqual(calledBy(process));
      for (const callee of calledBy(process)) {
        // Of two services that call each other, the first one starts alone.
        const isMutual = calledBy(DEPLOYED.find((one) => one.name === callee)!).includes(name);
        const theirs = (isMutual && compose.services[callee]!.depends_on) || {};
        const waits = [
          ...Object.entries(depends_on).filter(([other]) => other === callee),
          ...Object.entries(theirs).filter(([other]) => other === name),
        ];
        expect(waits).toContainEqual([expect.any(String), { condition: "service_healthy" }]);
      }
    },
  );

  it("starts each process with the same young generation", () => {
    for (const { name } of DEPLOYED) {
      const flags = compose.services[name]!.environment!.NODE_OPTIONS!.split(" ");
      expect({ name, flags }).toEqual({ name, flags: expect.arrayContaining([youngFlag(name)]) });
    }
  });

  it("migrates each schema with the image of its service, before the service starts", () => {
    for (const { name, schema } of DEPLOYED) {
      if (schema === undefined) continue;
      const job = compose.services[`migrate-${name}`]!;
      expect(job.image).toBe(compose.services[name]!.image);
      expect(job.environment).toMatchObject({
        SCHEMA: schema,
        DATABASE_URL: compose.services[name]!.environment!.DATABASE_URL,
      });
      expect(compose.services[name]!.depends_on).toMatchObject({
        [`migrate-${name}`]: { condition: "service_completed_successfully" },
      });
    }
  });

  it("builds each of our images from the one Dockerfile, and takes the others by a fixed tag", () => {
    for (const { name } of DEPLOYED) {
      const builders = entries.filter(([, { build }]) => build?.args.SERVICE === name);
      expect(builders.map(([, { build, image }]) => [build!.dockerfile, image])).toContainEqual([
        "deploy/Dockerfile",
        `wonrail-${name}:\${TAG:-local}`,
      ]);
    }
    const foreign = entries.flatMap(([, { image }]) => (image!.startsWith("wonrail-") ? [] : [image!]));
    expect(foreign.filter((image) => !/:v?\d+\.\d+(\.\d+)?$/.test(image))).toEqual([]);
  });

  it("depends_on names only services that can reach the awaited condition", () => {
    for (const [name, { depends_on = {} }] of entries) {
      const needs = Array.isArray(depends_on)
        ? depends_on.map((each) => [each, { condition: "service_started" }] as const)
        : Object.entries(depends_on);
      for (const [needed, { condition }] of needs) {
        const target = compose.services[needed];
        expect({ name, needed, known: target !== undefined }).toEqual({ name, needed, known: true });
        if (condition === "service_healthy")
          expect({ needed, healthcheck: target!.healthcheck }).toEqual({
            needed,
            healthcheck: expect.anything(),
          });
      }
    }
  });

  it("listens on this machine only, without privileges and with a read-only root", () => {
    const ports = entries.flatMap(([, { ports = [] }]) => ports);
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
    for (const { name } of DEPLOYED)
      expect(compose.services[name]).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
  });

  it("declares every used volume", () => {
    const used = entries.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(":")[0]!));
    const named = used.filter((source) => !source.startsWith("."));
    expect([...new Set(named)].sort()).toEqual(Object.keys(compose.volumes).sort());
  });
});

describe("skaffold.yaml", () => {
  const skaffold = parse(readText("skaffold.yaml")) as {
    apiVersion: string;
    build: { artifacts: { image: string; docker: { dockerfile: string; buildArgs: { SERVICE: string } } }[] };
    deploy: {
      helm: {
        releases: { chartPath: string; valuesFiles: string[]; setValueTemplates: Record<string, string> }[];
      };
    };
    profiles: { name: string }[];
  };

  it("matches skaffold's own schema of its version in every profile", () => {
    const schema = JSON.parse(readText("e2e/ops/schemas/skaffold-v4beta14.json")) as AnySchema;
    const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
    const refused = (document: object) => (validate(document) ? [] : (validate.errors ?? []));
    expect(refused(skaffold)).toEqual([]);
    // Proves that the schema refuses something.
    expect(refused({ ...skaffold, biuld: {} })).not.toEqual([]);
    expect(refused({ ...skaffold, profiles: [{ name: "dev", patch: [] }] })).not.toEqual([]);
  });

  it("builds the six images and hands each to its part of the chart", () => {
    expect(skaffold.apiVersion).toMatch(/^skaffold\/v4beta(1[4-9]|[2-9]\d)$/);
    const [release] = skaffold.deploy.helm.releases;
    for (const { name } of DEPLOYED) {
      expect(skaffold.build.artifacts).toContainEqual({
        image: `wonrail-${name}`,
        context: ".",
        docker: { dockerfile: "deploy/Dockerfile", buildArgs: { SERVICE: name } },
      });
      const variable = `wonrail-${name}`.replaceAll("-", "_");
      expect(release!.setValueTemplates[`services.${name}.image`]).toBe(
        `{{.IMAGE_FULLY_QUALIFIED_${variable}}}`,
      );
    }
    expect(skaffold.build.artifacts).toHaveLength(DEPLOYED.length);
  });

  it("has the profiles, and names only existing files", () => {
    expect(skaffold.profiles.map(({ name }) => name)).toEqual(["dev", "debug", "ci", "minimal"]);
    const files = [...readText("skaffold.yaml").matchAll(/helm\/wonrail\/[a-z-]+\.yaml/g)].map(
      ([path]) => path,
    );
    for (const path of files) expect(readText(path)).not.toBe("");
  });
});
