import { explore, told } from "./explorer/explore.js"
import { registry } from "./registry/registry.js"
import { LARGE_SETTINGS, SETTINGS } from "./registry/settings.js"

/**
 * Explores the settings whose names contain the argument, the large ones if there is none, and prints what it saw:
 * `npx tsc -p spec/tsconfig.json && node build/spec/by-hand.js "late saves"`.
 */
const asked = process.argv[2]
const chosen =
  asked === undefined
    ? LARGE_SETTINGS
    : [...SETTINGS, ...LARGE_SETTINGS].filter(({ name }) => name.includes(asked))
for (const setting of chosen) {
  const model = registry(setting)
  const startedMs = performance.now()
  const { distinct, generated, depth, evaluated, violation } = explore(model, { maxStates: 20_000_000 })
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  const megabytes = Math.round(process.memoryUsage.rss() / 1e6)
  console.log(
    `${setting.name}: ${distinct} states, ${generated} steps, depth ${depth}, ${seconds} s, ${megabytes} MB`,
  )
  console.log(`  ${JSON.stringify(evaluated)}`)
  if (violation !== undefined) console.log(told(violation, model.tell))
}
