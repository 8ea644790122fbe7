// A replica in its own process, so that a test can kill or freeze it.
import { startReplica, type ReplicaPlace } from "./replica";

startReplica(JSON.parse(process.argv[2]!) as ReplicaPlace);
process.stdout.write("started\n");
