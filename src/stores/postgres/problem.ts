import { type Commitment, type StoreProblem, StoreUnavailableError } from "../../errors/store-errors.js"

/**
 * Converts an error of the driver, the server or the network to the one that callers of the store get. A
 * `StoreUnavailableError` is returned unchanged.
 *
 * The server answers an error before it has committed, so a statement that it refused has no effect. Where
 * the connection ended without an answer, the outcome is not known if the statement `mayHaveRun`.
 */
export function unavailable(error: unknown, place: string, mayHaveRun: boolean): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error
  const code = codeOf(error)
  const known = KINDS.get(code) ?? KINDS.get(code.slice(0, 2)) ?? UNKNOWN
  const said = error instanceof Error ? error.message || code : String(error)
  return new StoreUnavailableError(
    `the store at ${place} ${known.what} (${said}); ${known.advice}`,
    commitmentOf(error, mayHaveRun),
    { problem: known.problem, cause: error },
  )
}

/** Creates the error for a problem that the store finds by itself. */
export function refusal(problem: StoreProblem, message: string, cause?: unknown): StoreUnavailableError {
  return new StoreUnavailableError(message, "not-committed", {
    problem,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** Whether the server undid the statement because of others, so that it can be sent again at once. */
export function isContention(error: unknown): boolean {
  return ["40001", "40P01"].includes(codeOf(error))
}

function commitmentOf(error: unknown, mayHaveRun: boolean): Commitment {
  const { severity } = error as { severity?: unknown }
  return mayHaveRun && severity !== "ERROR" ? "unknown" : "not-committed"
}

/** The SQLSTATE of the server, or the code of an error of the network. */
function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === "string" ? code : ""
}

interface Kind {
  readonly problem: StoreProblem
  readonly what: string
  readonly advice: string
}

const AWAY: Kind = {
  problem: "unreachable",
  what: "cannot be reached",
  advice: "check its address, and that the server runs",
}
const CUT: Kind = {
  problem: "unanswered",
  what: "ended the connection without an answer",
  advice: "see the server's log; a server that was restarted is used again when it is back",
}
const STANDBY: Kind = {
  problem: "standby",
  what: "is a standby or read-only",
  advice: "connect to the primary server, or list all servers in url",
}
const LOGIN: Kind = {
  problem: "refused-login",
  what: "refused the login",
  advice: "check user, password and ssl, and the server's pg_hba.conf",
}
const RIGHTS: Kind = {
  problem: "refused-login",
  what: "gives this role too few rights",
  advice:
    "let the role create the schema (GRANT CREATE ON DATABASE), or create the schema for it (CREATE SCHEMA ... AUTHORIZATION)",
}
const FULL: Kind = {
  problem: "full",
  what: "has no room left",
  advice: "free some space on its disk; acknowledged commits are kept",
}
const RESTARTING: Kind = {
  problem: "unreachable",
  what: "is starting or shutting down",
  advice: "wait for the server; requests are sent again when it is back",
}
const LOCKED: Kind = {
  problem: "locked",
  what: "kept a commit waiting for locks that others hold",
  advice: "look for stuck sessions in pg_stat_activity",
}
const CHANGED: Kind = {
  problem: "unsuitable",
  what: "does not have the tables or functions of this version",
  advice: "use the version of Troupe that the other nodes have, and do not change the schema by hand",
}
const UNKNOWN: Kind = { problem: "other", what: "failed", advice: "see the server's log" }

/** By SQLSTATE, by its first two digits, which are its class, or by the code of an error of Node. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["ECONNREFUSED", AWAY],
  ["ECONNRESET", CUT],
  ["ENOTFOUND", AWAY],
  ["EAI_AGAIN", AWAY],
  ["EHOSTUNREACH", AWAY],
  ["ENETUNREACH", AWAY],
  ["ETIMEDOUT", AWAY],
  ["EPIPE", CUT],
  ["ENOENT", AWAY],
  ["08", AWAY],
  ["", CUT],
  ["25006", STANDBY],
  ["55000", STANDBY],
  ["28", LOGIN],
  [
    "3D000",
    {
      problem: "unsuitable",
      what: "does not have the database",
      advice: "create it (CREATE DATABASE), or check the name",
    },
  ],
  ["42501", RIGHTS],
  [
    "53300",
    {
      problem: "overloaded",
      what: "has too many connections",
      advice: "raise max_connections of the server, or lower maxConnections of the nodes",
    },
  ],
  ["53100", FULL],
  [
    "53200",
    {
      problem: "overloaded",
      what: "ran out of memory, or of room for locks",
      advice: "raise max_locks_per_transaction of the server",
    },
  ],
  ["57P01", RESTARTING],
  ["57P02", RESTARTING],
  ["57P03", RESTARTING],
  ["55P03", LOCKED],
  ["57014", LOCKED],
  ["40", LOCKED],
  ["42883", CHANGED],
  ["42P01", CHANGED],
  ["3F000", CHANGED],
  ["58", { problem: "disk", what: "got an error from its disk", advice: "see the server's log" }],
  [
    "XX",
    {
      problem: "damaged",
      what: "reports damaged data",
      advice: "see the server's log, and restore a backup",
    },
  ],
  [
    "TR001",
    {
      problem: "unsuitable",
      what: "runs transactions at another isolation level than READ COMMITTED",
      advice: "set it for the role (ALTER ROLE ... SET default_transaction_isolation = 'read committed')",
    },
  ],
])
