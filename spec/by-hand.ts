import { explore, told } from "./explorer/explore.js"
import { registryCode } from "./registry-code/registry-code.js"
import { LARGE_SETTINGS, SETTINGS } from "./registry-code/settings.js"

/**
 * Explores the settings whose names contain the argument, the large ones if there is none, and prints what it
 * saw: `npx tsc -p spec/tsconfig.json && node build/spec/by-hand.js "late saves"`.
 */
const asked = process.argv[2]
const chosen =
  asked === undefined
    ? LARGE_SETTINGS
    : [...SETTINGS, ...LARGE_SETTINGS].filter(({ name }) => name.includes(asked))
for (const setting of chosen) {
  const startedUs = process.cpuUsage().user
  const model = registryCode(setting)
  const { distinct, generated, depth, evaluated, violation } = explore(model, { maxStates: 20_000_000 })
  const seconds = ((process.cpuUsage().user - startedUs) / 1e6).toFixed(1)
  const megabytes = Math.round(process.memoryUsage.rss() / 1e6)
  console.log(
    `${setting.name}: ${distinct} states, ${generated} steps, depth ${depth}, ${seconds} s, ${megabytes} MB`,
  )
  console.log(`  ${JSON.stringify(evaluated)}`)
  if (violation !== undefined) console.log(told(violation, model.tell))
}
