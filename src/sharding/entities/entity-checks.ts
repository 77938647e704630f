import { SettingsError } from "../../errors/settings-error.js"
import type { EntityOptions } from "./entity-options.js"

/** Checks the options of a type of entities. `shards` has the types of this node with their shard counts. */
export function checkEntityOptions<M, S>(
  options: EntityOptions<M, S>,
  shards: Readonly<Record<string, number>>,
): void {
  for (const field of Object.keys(options)) if (!known.has(field)) throw unknown(field)
  const { typeKey, shardCount, entity, allocation, persistence, remembered } = options
  const declared = Object.hasOwn(shards, typeKey) ? shards[typeKey] : undefined
  if (declared === undefined) {
    const names = Object.keys(shards).join(", ")
    fail(
      "typeKey",
      `must be named by the setting shards (got ${String(typeKey)}, shards has ${names || "none"})`,
    )
  }
  if (shardCount !== undefined && shardCount !== declared) {
    fail("shardCount", `must be that of the setting shards (got ${shardCount}, shards has ${declared})`)
  }
  if (typeof entity !== "function") fail("entity", "must be a function that returns a behavior")
  checkNumber("passivateAfterMs", options.passivateAfterMs)
  checkNumber("handOffMs", options.handOffMs)
  checkNumber("bufferCapacity", options.bufferCapacity)
  checkNumber("mailboxCapacity", options.mailboxCapacity)
  checkMethods("allocation", allocation, ["allocate", "rebalance"])
  checkMethods("persistence", persistence, ["load", "save"])
  checkMethods("remembered", remembered, ["add", "remove", "list"])
}

const known: ReadonlySet<string> = new Set<keyof EntityOptions<never>>([
  "typeKey",
  "entity",
  "shardCount",
  "passivateAfterMs",
  "allocation",
  "handOffMs",
  "bufferCapacity",
  "mailboxCapacity",
  "persistence",
  "remembered",
])

function checkNumber(field: string, value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value > 0)) return
  if (field === "mailboxCapacity" && value === Number.POSITIVE_INFINITY) return
  fail(field, `must be a positive integer (got ${String(value)})`)
}

function checkMethods(field: string, value: object | undefined, methods: readonly string[]): void {
  if (value === undefined) return
  for (const method of methods) {
    if (typeof (value as Record<string, unknown> | null)?.[method] !== "function")
      fail(field, `must have the methods ${methods.join(", ")}`)
  }
}

function unknown(field: string): SettingsError {
  return new SettingsError(
    `sharding.${field}`,
    `there is no such option; options are ${[...known].join(", ")}`,
  )
}

function fail(field: string, problem: string): never {
  throw new SettingsError(`sharding.${field}`, problem)
}
