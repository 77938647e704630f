import { dashboard } from "../../src/dashboard/index.js"
import { Actor, ActorSystem, consoleLogger } from "../../src/index.js"
import { ActorSystem as System } from "../../src/system/actor-system.js"
import { keep } from "../keep.js"
import { median } from "../quantile.js"
import type { FreeRow } from "../row.js"

class Echo extends Actor {
  static readonly type = "Echo"

  next(number: number) {
    return number + 1
  }
}

/**
 * Calls of 64 actors of this process while somebody looks at the dashboard, against those while nobody does. Both are
 * of one system, in turn: the ratio is the median of those of the pairs. Each sample has at least one snapshot. Seconds
 * are those of the processor, as 2% is less than what other processes of a machine change.
 */
export const dashboardOpen: FreeRow = {
  kind: "free",
  name: "dashboard-open",
  unit: "calls/s",
  bar: { of: "ratio", better: "higher", at: 0.98 },
  async measure(progress) {
    const logger = consoleLogger({ level: "error" })
    const system = await ActorSystem.start({ namespace: "bench", actors: [Echo], logger })
    const echoes = Array.from({ length: 64 }, (_, key) => system.actor(Echo, `${key}`))
    const calls = async (ms: number) => {
      const since = performance.now()
      const usedMs = processorMs()
      let count = 0
      while (performance.now() - since < ms) {
        for (let round = 0; round < 16; round += 1) {
          const answers = await Promise.all(echoes.map((echo) => echo.next(count)))
          keep(answers)
          count += answers.length
        }
      }
      return (count / (processorMs() - usedMs)) * 1_000
    }
    const watched = async () => {
      const board = dashboard(system, { authenticate: () => ({ id: "bench" }) })
      let isOver = false
      const look = async () => {
        for (let seen = { run: "", serial: 0 }; !isOver; ) {
          const query = `run=${seen.run}&after=${seen.serial}`
          const view = await board.fetch(new Request(`http://localhost/api/view?${query}`))
          seen = (await view.json()) as { run: string; serial: number }
        }
      }
      const looking = look()
      const rate = await calls(SAMPLE_MS)
      isOver = true
      await board.close()
      await looking
      System.observersOf(system).here.stop()
      return rate
    }
    progress("warming up")
    for (let round = 0; round < 3; round += 1) await calls(SAMPLE_MS)
    await watched()
    const [open, closed]: [number[], number[]] = [[], []]
    for (let pair = 0; pair < PAIRS; pair += 1) {
      progress(`pair ${pair + 1} of ${PAIRS}`)
      const isFirst = pair % 2 === 0
      if (isFirst) open.push(await watched())
      closed.push(await calls(SAMPLE_MS))
      if (!isFirst) open.push(await watched())
    }
    await system.stop()
    const ratio = median(open.map((rate, pair) => rate / (closed[pair] as number)))
    return { value: median(open), limit: median(closed), ratio }
  },
}

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const PAIRS = 20
const SAMPLE_MS = 2_500
