import { type Commitment, type StoreProblem, StoreUnavailableError } from "../../errors/store-errors.js"
import { tlsFailure } from "../../runtime/tls/tls-failure.js"
import { ConnectionLost, GrpcRefusal } from "./grpc-failure.js"

/** What a failed call means for the request that made it. */
export interface Failure {
  readonly problem: StoreProblem
  /** What happened and what to do, in one line. */
  readonly message: string
  /** Whether the server has certainly not carried out the call, and never will. */
  readonly isCertain: boolean
  /** Whether the same call may succeed a little later, or with another server. */
  readonly isTransient: boolean
  /** What the connection needs before the next call. */
  readonly remedy?: "another-server" | "another-token" | undefined
  readonly cause?: unknown
}

export function unavailable(
  { problem, message, cause }: Failure,
  commitment: Commitment,
): StoreUnavailableError {
  return new StoreUnavailableError(message, commitment, { problem, cause })
}

/** Returns what a failed call to a server means. */
export function failureOf(error: unknown, url: string): Failure {
  if (error instanceof StoreFailure) return error.failure
  if (error instanceof GrpcRefusal) return refusal(error, url)
  if (error instanceof ConnectionLost) {
    return {
      problem: "unanswered",
      message: error.isGivenUp
        ? `etcd at ${url} did not answer in time; ${MAJORITY}, and whether their disks are too slow`
        : `etcd at ${url} ended the connection before its answer (${error.message}); ${MAJORITY}`,
      isCertain: !error.wasSent,
      isTransient: true,
      remedy: error.isGivenUp ? undefined : "another-server",
      cause: error,
    }
  }
  return connectFailure(error as Error & { readonly code?: unknown }, url)
}

/** The same for the first calls to a server, which may be no etcd at all. */
export function entryFailureOf(error: unknown, url: string): Failure {
  if (!(error instanceof ConnectionLost) || error.isGivenUp) return failureOf(error, url)
  // With TLS 1.3 a server refuses a certificate after the connection was established.
  return connectFailure(error.cause instanceof Error ? error.cause : error, url)
}

/** A failure that a rejected promise carries. */
export class StoreFailure extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message, { cause: failure.cause })
    this.name = "StoreFailure"
    this.failure = failure
  }
}

function connectFailure(error: Error & { readonly code?: unknown }, url: string): Failure {
  const code = typeof error.code === "string" ? error.code : ""
  const tls = tlsFailure(code)
  const isOfTls = tls?.code === "Untrusted"
  const advice = isOfTls
    ? tls.advice
    : "check that etcd runs there, and whether its endpoints begin with http:// or https://"
  return {
    problem: isOfTls ? "refused-login" : "unreachable",
    message: `etcd at ${url} cannot be reached (${error.message}); ${advice}`,
    isCertain: true,
    isTransient: !isOfTls,
    remedy: "another-server",
    cause: error,
  }
}

function refusal(error: GrpcRefusal, url: string): Failure {
  const rule = RULES.find(({ says }) => error.message.includes(says))
  if (rule === undefined) {
    const isUnknownMethod = error.status === UNIMPLEMENTED
    return {
      problem: isUnknownMethod ? "unsuitable" : "other",
      message: isUnknownMethod
        ? `${url} is no etcd 3.4 or later (${error.message}); check the endpoints`
        : `etcd at ${url} refused a request: ${error.message}`,
      isCertain: isUnknownMethod,
      isTransient: error.status === UNAVAILABLE,
      cause: error,
    }
  }
  const { says: _, advice, ...meaning } = rule
  return {
    ...meaning,
    message: `etcd at ${url} refused a request: ${error.message}; ${advice}`,
    cause: error,
  }
}

/** gRPC's status codes. */
const UNIMPLEMENTED = 12
const UNAVAILABLE = 14

interface RefusalRule extends Omit<Failure, "message" | "cause"> {
  /** A part of etcd's message. */
  readonly says: string
  readonly advice: string
}

const MAJORITY = "check that a majority of its members runs"
const LIMITS = "start etcd with its default limits or higher ones"

/**
 * What etcd's refusals mean. A refusal is certain only where etcd gives it before it proposes a request to
 * its log, or where every member gives it instead of applying the request.
 *
 * The quota of the database is no such case: the request that exceeds it is applied, and then refused. Nor is
 * a member that stops or loses its leader while a request is in its log.
 */
const RULES: readonly RefusalRule[] = [
  {
    says: "no leader",
    problem: "unreachable",
    advice: MAJORITY,
    isCertain: true,
    isTransient: true,
    remedy: "another-server",
  },
  { says: "leader changed", problem: "unanswered", advice: MAJORITY, isCertain: false, isTransient: true },
  {
    says: "request timed out",
    problem: "unanswered",
    advice: `${MAJORITY}, and whether their disks are too slow`,
    isCertain: false,
    isTransient: true,
    remedy: "another-server",
  },
  {
    says: "server stopped",
    problem: "unanswered",
    advice: MAJORITY,
    isCertain: false,
    isTransient: true,
    remedy: "another-server",
  },
  {
    says: "too many requests",
    problem: "overloaded",
    advice: "request less at once, or check whether its disks are too slow",
    isCertain: true,
    isTransient: true,
  },
  {
    says: "database space exceeded",
    problem: "full",
    advice:
      "compact and defragment it, disarm its alarm, and have it compact by itself (--auto-compaction-retention)",
    isCertain: false,
    isTransient: false,
  },
  {
    says: "request is too large",
    problem: "unsuitable",
    advice: `${LIMITS} (--max-request-bytes)`,
    isCertain: true,
    isTransient: false,
  },
  {
    says: "too many operations",
    problem: "unsuitable",
    advice: `${LIMITS} (--max-txn-ops)`,
    isCertain: true,
    isTransient: false,
  },
  {
    says: "invalid auth token",
    problem: "refused-login",
    advice: "check how long etcd's tokens are valid",
    isCertain: true,
    isTransient: true,
    remedy: "another-token",
  },
  {
    says: "revision of auth store is old",
    problem: "refused-login",
    advice: "try again",
    isCertain: true,
    isTransient: true,
    remedy: "another-token",
  },
  {
    says: "authentication failed",
    problem: "refused-login",
    advice: "check `auth`",
    isCertain: true,
    isTransient: false,
  },
  {
    says: "user name is empty",
    problem: "refused-login",
    advice: "it asks for a user; set `auth`",
    isCertain: true,
    isTransient: false,
  },
  {
    says: "permission denied",
    problem: "refused-login",
    advice: "grant the user a role that may read and write the keys of the store",
    isCertain: true,
    isTransient: false,
  },
  {
    says: "corrupt cluster",
    problem: "damaged",
    advice: "replace the corrupt member, or restore a snapshot",
    isCertain: false,
    isTransient: false,
  },
  {
    says: "not supported for learner",
    problem: "unreachable",
    advice: "name the members that vote",
    isCertain: true,
    isTransient: true,
    remedy: "another-server",
  },
  {
    says: "not capable",
    problem: "unreachable",
    advice: "wait until its cluster has started",
    isCertain: true,
    isTransient: true,
    remedy: "another-server",
  },
]
