import type { Life, Stage, Workload } from "../src/sim/index.js"
import { drawSettings, settlingMs } from "./remoting/knobs.js"
import { NoteLedger } from "./remoting/note-ledger.js"
import type { Plant } from "./remoting/plant.js"
import { Player, type Show } from "./remoting/player.js"
import { QuestionLedger } from "./remoting/question-ledger.js"
import { WatchLedger } from "./remoting/watch-ledger.js"

/**
 * Two to four nodes that tell, ask and watch each other, under every fault there is. Chains of hashes show
 * that what is told arrives in order, once and bit for bit; what does not arrive is explained by a lost
 * connection or is in dead letters; every question ends once, and one that was not delivered is never
 * handled; and once the faults are over everybody can talk to everybody again.
 */
export function remotingWith(plant: Plant, name: string): Workload {
  return {
    name,
    about: "nodes that tell, ask and watch each other, under every fault of the network",
    floors: { operations: 100, faults: 5 },
    limits: { virtualMs: 300_000 },
    async run(stage) {
      for (const place of places) stage.sometimes(place, false)
      for (const ledger of [new NoteLedger(), new QuestionLedger(), new WatchLedger()]) ledger.watch(stage)
      const machines = ["alpha", "beta", "gamma", "delta"].slice(0, stage.knob("nodes", [2, 3, 4]))
      const settings = drawSettings(stage)
      const show: Show = {
        settings,
        plant,
        // Hosts are given in the order in which machines are started.
        machines: new Map(machines.map((machine, index) => [`10.0.0.${index + 2}`, machine])),
        players: new Map(),
        isOver: false,
        operation: (count) => stage.operation(count),
      }
      for (const machine of machines) stage.start(machine, (life) => play(life, machine, show))
      await stage.sleep(stage.knob("lastsMs", [4_000, 12_000]))
      await settle(stage, machines, show)
    },
  }
}

export const remoting = remotingWith({}, "remoting")

async function play(life: Life, machine: string, show: Show): Promise<void> {
  for (let act = 1; ; act += 1) {
    const player = await Player.enter(life, show, act)
    show.players.set(machine, player)
    if ((await player.perform()) === "stays") return
    await player.leave()
  }
}

/** The faults end, what they broke mends, and everything is accounted for. */
async function settle(stage: Stage, machines: readonly string[], show: Show): Promise<void> {
  stage.calm()
  show.isOver = true
  await stage.sleep(settlingMs(show.settings))
  const each = (task: (player: Player) => Promise<void>) =>
    Promise.all(machines.map((machine) => stage.on(machine, () => task(show.players.get(machine) as Player))))
  await each((player) => player.speakOnceMore())
  await stage.sleep(1_000)
  await each((player) => player.closeAll())
  await stage.sleep(show.settings.requestTimeoutMs + 1_000)
  for (const { name } of show.players.values()) stage.record({ kind: "judged", player: name })
  await stage.sleep(1)
}

/** Each must be reached by some seed, or the run has shown too little. */
const places = [
  "dead letter: deferred-full",
  "dead letter: outbound-full",
  "dead letter: quarantined",
  "dead letter: unreachable",
  "dead letter: old-incarnation",
  "dead letter: ask-ended",
  "lost: silent",
  "lost: corrupted",
  "lost: left",
  "lost: unreachable",
  "lost: ended",
  "lost: reincarnated",
  "a node goes on as a new incarnation",
  "dial failed: duplicate",
  "dial failed: unreachable",
  "connection refused: duplicate",
  "connection refused: quarantined",
  "quarantined by hand",
  "a quarantine is lifted by hand",
  "a system stops and starts again",
  "a question is passed on to a third node",
  "an ask is answered by a third node",
  "a watched actor is gone: none",
  "a watched actor is gone: unreachable",
  "a watched actor is gone: told to fail",
]
