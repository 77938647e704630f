import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { codecLimits } from "../../src/serialization/codec-limits.js"
import { checkSettings } from "../../src/system/settings.js"
import { Actor } from "../../src/virtual/actor.js"
import { durabilityOf } from "../../src/virtual/durability.js"
import { project } from "../types/compiler.js"
import type { Setting } from "./setting.js"
import { documentedSettings, settingsPage } from "./settings-page.js"

describe("the page about settings", () => {
  it("has every setting as its type describes it; -u writes it again", async () => {
    await expect(settingsPage()).toMatchFileSnapshot(join(project, "docs/settings.md"))
  })

  it("gives every setting a meaning", () => {
    expect(all().filter(({ meaning }) => meaning === "")).toEqual([])
  })

  it("names the default of every setting that may be left out and is no group", () => {
    const silent = all().filter(
      ({ isRequired, type, meaning }) => !isRequired && type !== undefined && !/\bdefaults?\b/i.test(meaning),
    )
    expect(silent.map(({ path }) => path)).toEqual([])
  })

  it("names the defaults that the code has", () => {
    const documented = all().flatMap(({ path, meaning }) => {
      const number = /\bdefault (\d[\d,.]*(?: (?:MiB|days))?)/i.exec(meaning)?.[1]
      return number === undefined ? [] : [[path, numberOf(number)] as const]
    })
    expect(Object.fromEntries(documented)).toEqual(defaults())
  })
})

function all(): Setting[] {
  return [...documentedSettings().values()].flat()
}

/** The settings whose default is a number, as the code applies it. */
function defaults(): Record<string, unknown> {
  const { lease, remote, membership, ...system } = checkSettings({ namespace: "prod" })
  const { terms, inbound, keepAlive } = remote
  const codec = codecLimits()
  return {
    requestTimeoutMs: system.requestTimeoutMs,
    drainMs: system.drainMs,
    joinMs: system.joinMs,
    idleAfterMs: system.idleAfterMs,
    mailboxCapacity: system.mailboxCapacity,
    maxForwards: system.maxForwards,
    placementCache: system.placementCache,
    maxStateBytes: system.maxStateBytes,
    "lease.ttlMs": lease.ttlMs,
    "lease.driftMargin": lease.driftMargin,
    "lease.observers": lease.observers,
    maxMessageBytes: remote.maxMessageBytes,
    "deferred.perAuthority": terms.perAuthority,
    "deferred.total": terms.total,
    "reconnect.fromMs": terms.fromMs,
    "reconnect.toMs": terms.toMs,
    "outboundBuffer.bytes": terms.bytes,
    "inboundBuffer.messages": inbound.messages,
    "inboundBuffer.bytes": inbound.bytes,
    quarantineMs: terms.quarantineMs,
    "keepAlive.intervalMs": keepAlive.intervalMs,
    "keepAlive.timeoutMs": keepAlive.timeoutMs,
    unreachableAfterMs: terms.unreachableAfterMs,
    gossipIntervalMs: membership.terms.gossipIntervalMs,
    ...named("heartbeat", membership.terms.heartbeat),
    "splitBrain.stableAfterMs": membership.terms.splitBrain.stableAfterMs,
    ...sqliteDefaults(),
    stateVersion: 0,
    maxOperations: durabilityOf("Any", class extends Actor {}).maxOperations,
    maxDepth: codec.maxDepth,
    maxItems: codec.maxItems,
  }
}

/** The settings of a group, by their paths. */
function named(group: string, settings: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [`${group}.${name}`, value]))
}

/** The defaults in the text of the sources, as a store of the sources has no compiled thread to start. */
function sqliteDefaults(): Record<string, number> {
  const text = readFileSync(join(project, "src/stores/sqlite/sqlite-store.ts"), "utf8")
  const pattern = /const \{ file, (.+) \} = options/.exec(text)?.[1] ?? ""
  return Object.fromEntries(
    pattern.split(", ").map((one) => {
      const [name = "", value = ""] = one.split(" = ")
      const factors = value.replaceAll("_", "").split(" * ").map(Number)
      return [name, factors.reduce((product, factor) => product * factor, 1)]
    }),
  )
}

function numberOf(text: string): number {
  const [number = "", unit = ""] = text.split(" ")
  return Number(number.replace(/,/g, "").replace(/\.$/, "")) * (units[unit] ?? 1)
}

const units: Readonly<Record<string, number>> = { MiB: 1024 * 1024, days: 24 * 3_600_000 }
