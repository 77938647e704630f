import { destroy } from "./destroy/destroy.js"
import * as lives from "./destroy/settings.js"
import { durable } from "./durable/durable.js"
import * as turns from "./durable/settings.js"
import { explore, told } from "./explorer/explore.js"
import type { Model } from "./explorer/model.js"
import { registryCode } from "./registry-code/registry-code.js"
import * as registry from "./registry-code/settings.js"
import * as shards from "./shard-code/settings.js"
import { shardCode } from "./shard-code/shard-code.js"
import * as indexes from "./unique/settings.js"
import { unique } from "./unique/unique.js"

/**
 * Explores the settings whose names contain the argument, the large ones if there is none, and prints what it
 * saw: `npx tsc -p spec/tsconfig.json && node build/spec/by-hand.js "late saves"`.
 */
const asked = process.argv[2]
for (const setting of chosen(registry)) run(registryCode(setting))
for (const setting of chosen(shards)) run(shardCode(setting))
for (const setting of chosen(turns)) run(durable(setting))
for (const setting of chosen(indexes)) run(unique(setting))
for (const setting of chosen(lives)) run(destroy(setting))

function chosen<T extends { readonly name: string }>({
  SETTINGS,
  LARGE_SETTINGS,
}: Settings<T>): readonly T[] {
  if (asked === undefined) return LARGE_SETTINGS
  return [...SETTINGS, ...LARGE_SETTINGS].filter(({ name }) => name.includes(asked))
}

interface Settings<T> {
  readonly SETTINGS: readonly T[]
  readonly LARGE_SETTINGS: readonly T[]
}

function run<S>(model: Model<S>): void {
  const startedUs = process.cpuUsage().user
  const { distinct, generated, depth, evaluated, violation } = explore(model, { maxStates: 20_000_000 })
  const seconds = ((process.cpuUsage().user - startedUs) / 1e6).toFixed(1)
  const megabytes = Math.round(process.memoryUsage.rss() / 1e6)
  console.log(
    `${model.name}: ${distinct} states, ${generated} steps, depth ${depth}, ${seconds} s, ${megabytes} MB`,
  )
  console.log(`  ${JSON.stringify(evaluated)}`)
  if (violation !== undefined) console.log(told(violation, model.tell))
}
