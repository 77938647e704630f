import type { Workload } from "../../../src/sim/index.js"
import { isUnlucky } from "./luck.js"

/**
 * Workloads that go wrong on purpose with some seeds, to try the command. Only `--testing` brings them in.
 */
export const troubled: readonly Workload[] = [
  {
    name: "failing",
    about: "breaks an assertion, with some seeds",
    async run(stage) {
      stage.operation()
      const unlucky = isUnlucky(stage)
      stage.note("draws a lot")
      stage.sometimes("is unlucky", unlucky)
      stage.always("luck holds", !unlucky, () => "the lot was a bad one")
    },
  },
  {
    name: "hanging",
    about: "falls into an endless loop, with some seeds",
    async run(stage) {
      if (!isUnlucky(stage)) return
      for (;;) {}
    },
  },
  {
    name: "spinning",
    about: "falls into an endless row of microtasks, with some seeds",
    async run(stage) {
      while (isUnlucky(stage)) await undefined
    },
  },
  {
    name: "crashing",
    about: "takes its process with it, with some seeds",
    async run(stage) {
      if (!isUnlucky(stage)) return
      console.error("this is the end")
      process.exit(7)
    },
  },
  {
    name: "endless",
    about: "never ends, and never stands still",
    limits: { virtualMs: Number.POSITIVE_INFINITY, steps: Number.POSITIVE_INFINITY },
    async run(stage) {
      for (;;) await stage.sleep(1)
    },
  },
]
