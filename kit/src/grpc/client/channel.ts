import { type ChannelOptions, Client, connectivityState, credentials } from "@grpc/grpc-js";
import { type Log } from "../../log";
import { type TlsIdentity } from "../tls";

export interface ChannelSettings {
  /**
   * host:port. A name is resolved again when connections end, and calls rotate over its addresses.
   */
  address: string;
  /** Name that the server's certificate must carry, at any address. */
  name: string;
  tls?: TlsIdentity | undefined;
  /** The largest response that is accepted. */
  maxReceiveBytes: number;
  log: Log;
}

/** The connections to one dependency. */
export interface Channel {
  client(): Client;
  /** Reports a call that was served or got a sign of life, with its server. */
  served(peer: string): void;
  answered(peer: string): void;
  timedOut(peer: string): void;
  /**
   * Waits for a connection during the first second without one and not beyond the
   * deadline: meanwhile the successor of a stopped server is resolved and connected. Returns true
   * after a reconnect; false when there was a connection, or still is none.
   */
  reconnected(deadlineMs: number): Promise<boolean>;
  close(): void;
}

const TIMEOUTS_BEFORE_RENEWAL = 5;
const RENEWAL_PAUSE_MS = 5000;
const RECONNECT_MS = 1000;
/** The peer of a call that found no connection before its time was over. */
export const NOT_CONNECTED = "";

/**
 * A connection can die silently: the peer is stopped, a firewall forgot it. grpc-js would use it
 * for as long as TCP retries, a quarter of an hour. So after a few consecutive timeouts of one
 * server, the connections are replaced. Pings would detect it too, but in grpc-js they also kill
 * calls of a connection that the server is draining, which every server here does regularly.
 */
export function openChannel({ address, name, tls, maxReceiveBytes, log }: ChannelSettings): Channel {
  const make = () => {
    const secure = tls ? credentials.createSsl(tls.ca, tls.key, tls.cert) : credentials.createInsecure();
    return new Client(`dns:///${address}`, secure, {
      ...channelOptions(maxReceiveBytes),
      ...(tls ? { "grpc.ssl_target_name_override": name } : {}),
    });
  };
  let client = make();
  const timeoutsInARow = new Map<string, number>();
  let renewedAtMs = -Infinity;
  let lostAtMs: number | undefined;

  function heard(peer: string): void {
    timeoutsInARow.delete(peer);
    timeoutsInARow.delete(NOT_CONNECTED);
  }

  return {
    client: () => client,
    served(peer) {
      heard(peer);
      lostAtMs = undefined;
    },
    answered: heard,
    timedOut(peer) {
      const timeouts = (timeoutsInARow.get(peer) ?? 0) + 1;
      timeoutsInARow.set(peer, timeouts);
      const now = performance.now();
      if (timeouts < TIMEOUTS_BEFORE_RENEWAL || now < renewedAtMs + RENEWAL_PAUSE_MS) return;
      log.warn({ address, peer, timeouts }, "no answers; reconnecting");
      // Calls that are still running on the old connection may end there.
      client.close();
      client = make();
      timeoutsInARow.clear();
      renewedAtMs = now;
    },
    async reconnected(deadlineMs) {
      if (client.getChannel().getConnectivityState(true) === connectivityState.READY) return false;
      lostAtMs ??= performance.now();
      const untilMs = Math.min(deadlineMs, Date.now() + lostAtMs + RECONNECT_MS - performance.now());
      if (untilMs <= Date.now()) return false;
      return new Promise((resolve) => client.waitForReady(untilMs, (error) => resolve(!error)));
    },
    close: () => client.close(),
  };
}

function channelOptions(maxReceiveBytes: number): ChannelOptions {
  return {
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    // Disables TXT look-ups of another configuration, and proxies from the environment.
    "grpc.service_config_disable_resolution": 1,
    "grpc.enable_http_proxy": 0,
    // The default shared pool would give a new channel the connection that it must replace.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": maxReceiveBytes,
    // A restarted dependency is back within a second or two; the defaults grow from one second to
    // two minutes.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 2000,
    "grpc.dns_min_time_between_resolutions_ms": 1000,
    "grpc.enable_channelz": 0,
  };
}
