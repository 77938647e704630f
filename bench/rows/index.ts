// Every row of the table, one line each. They are measured in the order of their exported names.
export { activateMemory, activateSqlite } from "./activate.js"
export { callLocal, callLocalObject } from "./call-local.js"
export { callRemote1, callRemote64, callRemote1024 } from "./call-remote.js"
export { claimEtcd1, claimEtcd64, claimEtcd1024 } from "./claim-etcd.js"
export { claimPostgres1, claimPostgres64, claimPostgres1024 } from "./claim-postgres.js"
export { claimSqlite } from "./claim-sqlite.js"
export { codec } from "./codec.js"
export { commitEtcd1, commitEtcd64, commitEtcd1024 } from "./commit-etcd.js"
export { commitPostgres1, commitPostgres64, commitPostgres1024 } from "./commit-postgres.js"
export {
  commitSqlite,
  commitSqliteFairness,
  commitSqliteGrouped,
  commitSqliteStall,
} from "./commit-sqlite.js"
export { gossipConvergence } from "./gossip-convergence.js"
export { idleActivationBytes } from "./idle-activation-bytes.js"
export { idleActorBytes } from "./idle-actor-bytes.js"
export { localAsk, localAsk64 } from "./local-ask.js"
export { localTell, localTellAsync } from "./local-tell.js"
export { lookupCached } from "./lookup-cached.js"
export { pathFormat } from "./path-format.js"
export { pathLookup } from "./path-lookup.js"
export { pathParse } from "./path-parse.js"
export { pathParseHostile } from "./path-parse-hostile.js"
export { remoteAsk1, remoteAsk64, remoteAsk1024 } from "./remote-ask.js"
export { remoteTell } from "./remote-tell.js"
export { saveEtcd1, saveEtcd64, saveEtcd1024 } from "./save-etcd.js"
export { savePostgres1, savePostgres64, savePostgres1024 } from "./save-postgres.js"
export { saveSqlite } from "./save-sqlite.js"
export { simSpeed } from "./sim-speed.js"
export { simSteps } from "./sim-steps.js"
export { spawn } from "./spawn.js"
