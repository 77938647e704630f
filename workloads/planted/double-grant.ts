import type { Life, Workload } from "../../src/sim/index.js"
import { processAndConnectionFaults } from "../fault-sets.js"
import { hostOf, Remote, serve, sleep } from "./calls.js"
import { oneHolderAtATime } from "./one-holder.js"
import type { Version } from "./version.js"

/**
 * Three servers give out one lock, and a client that gets no answer from one of them falls over to the next.
 *
 * The server that is asked has the others promise the lock to the client. A promise stands for the length of
 * a lease, counted from when it is made; the client counts a shorter one from before it asked, so it stops
 * first, also where clocks run up to a twentieth fast or slow. Promises are not kept on disk: a server that
 * has just started makes none until all that it may have forgotten are over.
 *
 * The mended version grants with the promises of two servers out of three. The buggy one takes most of those
 * that answered, which under a partition may be one out of one, on both sides.
 */
export function doubleGrant(version: Version): Workload {
  return {
    name: `double-grant-${version}`,
    about: "a lock from three servers, of which some cannot reach the others",
    faults: [
      ...processAndConnectionFaults.filter((kind) => kind !== "clean-loss"),
      "clock-drift",
      "clock-jump",
    ],
    floors: { operations: 5, faults: 1 },
    async run(stage) {
      oneHolderAtATime(stage)
      const leaseMs = stage.knob("leaseMs", [1_000, 3_000])
      const hosts: string[] = []
      for (const name of ["lock-1", "lock-2", "lock-3"]) {
        stage.start(name, (life) => giveOutLock(life, { hosts, leaseMs, version }))
        hosts.push(await hostOf(stage, name))
      }
      for (const name of ["ann", "bob"]) {
        stage.start(name, (life) => useLock(life, { hosts, leaseMs, used: () => stage.operation() }))
      }
      await stage.sleep(40_000)
    },
  }
}

type Request =
  | { readonly kind: "acquire"; readonly grant: string }
  | { readonly kind: "promise"; readonly grant: string }
  | { readonly kind: "release"; readonly grant: string }

type Answer = boolean

interface Servers {
  readonly hosts: readonly string[]
  readonly leaseMs: number
}

function giveOutLock(
  life: Life,
  { hosts, leaseMs, version }: Servers & { readonly version: Version },
): Promise<void> {
  const { clock } = life.ports
  let promised = { grant: "what an earlier life promised", untilMs: clock.monotonicMs() + leaseMs }
  const others = remotes(life, () => hosts.filter((host) => host !== life.host))

  const promise = (grant: string): boolean => {
    const nowMs = clock.monotonicMs()
    if (promised.grant !== grant && nowMs < promised.untilMs) return false
    promised = { grant, untilMs: nowMs + leaseMs }
    return true
  }
  const acquire = async (grant: string): Promise<boolean> => {
    const asked = others().map((other) => other.call({ kind: "promise", grant }, PEER_MS))
    const answers = [promise(grant), ...(await answersOf(asked))]
    const outOf = version === "buggy" ? answers.length : hosts.length
    const granted = answers.filter((yes) => yes).length > outOf / 2
    if (!granted) {
      release(grant)
      void answersOf(others().map((other) => other.call({ kind: "release", grant }, PEER_MS)))
    }
    return granted
  }
  const release = (grant: string): boolean => {
    if (promised.grant === grant) promised = { ...promised, untilMs: Number.NEGATIVE_INFINITY }
    return true
  }

  return serve<Request, Answer>(life, ({ kind, grant }) => {
    switch (kind) {
      case "acquire":
        return acquire(grant)
      case "promise":
        return promise(grant)
      case "release":
        return release(grant)
    }
  })
}

/** Takes the lock, acts on it, gives it back, and all over again. */
async function useLock(
  life: Life,
  { hosts, leaseMs, used }: Servers & { readonly used: () => void },
): Promise<void> {
  const { clock, random } = life.ports
  const servers = remotes(life, () => hosts)()
  for (let round = 1; ; round += 1) {
    const untilMs = clock.monotonicMs() + leaseMs * HOLDERS_SHARE
    const grant = await acquireFromAny(life, servers, `${life.name}-${round}`)
    if (grant !== undefined) {
      for (let act = 0; act < 10 && clock.monotonicMs() < untilMs; act += 1) {
        life.record({ kind: "act", grant })
        await sleep(life, 50)
      }
      used()
      await answersOf(servers.map((server) => server.call({ kind: "release", grant }, CALL_MS)))
    }
    await sleep(life, random.uint32() % 300)
  }
}

/**
 * The first server that answers decides. Each is asked for a grant of another name, because one that did not
 * answer may still be at work, and would give back what the next one promised.
 */
async function acquireFromAny(
  life: Life,
  servers: readonly Remote<Request, Answer>[],
  name: string,
): Promise<string | undefined> {
  for (const [index, server] of servers.entries()) {
    const grant = `${name}-${index + 1}`
    const [granted] = await answersOf([server.call({ kind: "acquire", grant }, CALL_MS)])
    if (granted === undefined) continue
    life.sometimes("a grant is given", granted)
    life.sometimes("a grant is refused", !granted)
    life.sometimes("another server is fallen over to", index > 0)
    return granted ? grant : undefined
  }
  return undefined
}

function remotes(life: Life, hosts: () => readonly string[]): () => Remote<Request, Answer>[] {
  const known = new Map<string, Remote<Request, Answer>>()
  return () =>
    hosts().map((host) => {
      const remote = known.get(host) ?? new Remote<Request, Answer>(life, host)
      known.set(host, remote)
      return remote
    })
}

/** The answers of those that answered. */
async function answersOf(calls: readonly Promise<Answer>[]): Promise<Answer[]> {
  const settled = await Promise.allSettled(calls)
  return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
}

const CALL_MS = 600
const PEER_MS = 200
/** What a holder makes of its lease. Clocks apart by a tenth leave enough. */
const HOLDERS_SHARE = 0.8
