import { runSeed, type Stage } from "../../../src/sim/index.js"

/** One seed in six is unlucky. The seed decides, so that a replay is as unlucky. */
export function isUnlucky(stage: Stage): boolean {
  let luck = lucks.get(stage)
  if (luck === undefined) {
    luck = stage.random.below(6)
    lucks.set(stage, luck)
  }
  return luck === 0
}

const lucks = new WeakMap<Stage, number>()

/** Whether a seed is unlucky, found out without harm. */
export async function isUnluckySeed(seed: number): Promise<boolean> {
  let unlucky = false
  await runSeed(
    {
      name: "asking",
      about: "asks for its luck",
      async run(stage) {
        unlucky = isUnlucky(stage)
      },
    },
    seed,
  )
  return unlucky
}
