import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode } from "react";
import { type FiringAlert, type Monitoring } from "../api/live";
import { Section } from "../blocks/section";
import { Empty } from "../blocks/states";
import { formatAge, formatTime } from "../format/times";
import { screenOfAlert } from "./alertScreens";

/** The alerts of Prometheus that fire, or how to connect it. */
export function AlertsSection({ monitoring, at }: { monitoring: Monitoring; at: string }): ReactNode {
  return (
    <Section title="Alerts that fire">
      <Alerts monitoring={monitoring} at={at} />
    </Section>
  );
}

function Alerts({ monitoring, at }: { monitoring: Monitoring; at: string }): ReactNode {
  if (monitoring.state === "not_connected")
    return (
      <Empty>
        The console reads no Prometheus, so alerts and the error budget are unknown. Set its PROMETHEUS_URL
        (chart: console.prometheusUrl) to the Prometheus that has the rules of deploy/prometheus.
      </Empty>
    );
  if (monitoring.state === "away")
    return (
      <Text size="sm" className="tone" data-tone="waits">
        Prometheus at {monitoring.url} does not answer ({monitoring.problem}). Alerts and the error budget are
        unknown. On one machine, start it: make observe.
      </Text>
    );
  if (monitoring.alerts.length === 0) return <Empty>No alert fires.</Empty>;
  return (
    <ul className="alerts">
      {monitoring.alerts.map((alert) => (
        <li key={`${alert.name} ${alert.summary}`}>
          <Alert alert={alert} at={at} />
        </li>
      ))}
    </ul>
  );
}

function Alert({ alert, at }: { alert: FiringAlert; at: string }): ReactNode {
  const { name, severity, summary, description, runbook, since } = alert;
  return (
    <>
      <Link to={screenOfAlert(name)} className="tone" data-tone={severity === "critical" ? "bad" : "waits"}>
        {severity}: {summary}
      </Link>
      <Text size="sm">{description}</Text>
      <Text size="xs" className="quiet">
        {name}, for {formatAge(since, Date.parse(at))} since {formatTime(since)}. Runbook:{" "}
        {/^https?:\/\//.test(runbook) ? (
          <a href={runbook} rel="noreferrer">
            {runbook}
          </a>
        ) : (
          runbook
        )}
      </Text>
    </>
  );
}
