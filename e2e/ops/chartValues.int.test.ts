import { join } from "node:path";
import { reportSkipped } from "../support/reportSkipped";
import { CHART, helm, helmRun, podsOf, render } from "./chart";

if (helm === undefined)
  reportSkipped("values are not tried on the chart, helm 4 is absent; deploy/kube/tools.sh builds it");
const withHelm = helm === undefined ? describe.skip : describe;

const DIGEST = `sha256:${"5e1f".repeat(16)}`;

withHelm("values that cannot work", () => {
  it.each([
    [["--set", "services.auth.replica=3"], /additional properties 'replica' not allowed/],
    [["--set", "bus.kind=kafkaa"], /bus\/kind/],
    [["--set", "image.tag=latest"], /image\/tag/],
    [["--set", "chain.network=MAINNET"], /chain\/network/],
    [["--set", "migrations.mode=hook"], /runs before the Postgres of dev/],
    [["--set", `defaults.digest=${DIGEST}`], /additional properties 'digest' not allowed/],
    [["--set", "defaults.image=registry.example.com/ours:1"], /additional properties 'image' not allowed/],
    [["--set", "services.auth.digest=5e1f"], /services\/auth\/digest/],
    [["--set", "mtls.enabled=false"], /additional properties 'enabled' not allowed/],
  ])("refuses %j", (args, reason) => {
    const { ok, output } = helmRun("template", "x", CHART, "-f", join(CHART, "values-dev.yaml"), ...args);
    expect({ ok, output }).toEqual({ ok: false, output: expect.stringMatching(reason) });
  });

  it.each([
    ["networkPolicy.postgres.to=null", /networkPolicy\.postgres\.to is empty.*anywhere=true/],
    ["networkPolicy.kafka.to=null", /networkPolicy\.kafka\.to is empty.*anywhere=true/],
    ["networkPolicy.chain.anywhere=false", /networkPolicy\.chain\.to is empty.*anywhere=true/],
    ["tracing.endpoint=http://collector:4318", /networkPolicy\.tracing\.to is empty.*anywhere=true/],
    ["mtls.certManager.issuer=", /mutual TLS needs certificates.*mtls\.allowPlainText=true/],
    ["chain.chainId=0", /chain\.chainId is not set/],
    [
      "services.auth.autoscaling.minReplicas=13",
      /autoscaling of auth: minReplicas of 13 is more than maxReplicas of 12/,
    ],
    ["bus.sasl=plain,bus.tls=false", /bus\.sasl is plain: without bus\.tls/],
  ])("refuses %s in production", (setting, reason) => {
    const args = ["-f", join(CHART, "values-production.yaml"), "--set", setting];
    const { ok, output } = helmRun("template", "x", CHART, ...args);
    expect({ ok, output }).toEqual({ ok: false, output: expect.stringMatching(reason) });
  });

  it.each([
    "networkPolicy.postgres.to=null,networkPolicy.postgres.anywhere=true",
    "mtls.certManager.issuer=,mtls.allowPlainText=true",
    "bus.sasl=plain",
    "bus.kind=feed,bus.sasl=plain,bus.tls=false",
    "services.auth.autoscaling.enabled=false,services.auth.autoscaling.minReplicas=13",
  ])("accepts %s in production", (setting) => {
    expect(podsOf(render("production", "--set", setting)).length).toBeGreaterThan(0);
  });

  it("a service's own image setting changes only that service", () => {
    const settings = [`services.auth.digest=${DIGEST}`, "services.gateway.image=registry.example.com/ours:1"];
    const images = podsOf(render("production", "--set", settings.join(",")))
      .filter(({ owner }) => owner.startsWith("Deployment/"))
      .map(({ pod }) => pod.containers[0]!.image);
    expect(images).toHaveLength(8);
    expect(new Set(images).size).toBe(8);
    expect(images).toContain(`registry.example.com/wonrail-auth@${DIGEST}`);
    expect(images).toContain("registry.example.com/ours:1");
    expect(images).toContainEqual(expect.stringMatching(/^registry\.example\.com\/wonrail-wallet:/));
  });

  it("an installation without values fails and names the missing value", () => {
    const { ok, output } = helmRun("template", "x", CHART);
    expect({ ok, output }).toEqual({
      ok: false,
      output: expect.stringMatching(/is (not set|empty).*dev\.enabled/),
    });
  });
});
