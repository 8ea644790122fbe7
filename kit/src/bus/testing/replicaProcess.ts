// A replica in a process of its own, so that a test can kill it or freeze it.
import { startReplica, type ReplicaPlace } from "./replica";

startReplica(JSON.parse(process.argv[2]!) as ReplicaPlace);
process.stdout.write("started\n");
