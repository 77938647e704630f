// Every row of the table, one line each. They are measured in the order of their exported names.
export { idleActorBytes } from "./idle-actor-bytes.js"
export { localAsk, localAsk64 } from "./local-ask.js"
export { localTell, localTellAsync } from "./local-tell.js"
export { pathFormat } from "./path-format.js"
export { pathLookup } from "./path-lookup.js"
export { pathParse } from "./path-parse.js"
export { pathParseHostile } from "./path-parse-hostile.js"
export { spawn } from "./spawn.js"
