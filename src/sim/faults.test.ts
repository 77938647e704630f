import { expect, test } from "vitest"
import { type FaultKind, faultKinds, faultsExcept } from "./faults.js"
import { runSeed } from "./run-seed.js"
import type { Workload } from "./workload.js"

test("the default is every fault but a restored store", () => {
  expect(faultsExcept()).toEqual(faultKinds.filter((kind) => kind !== "store-epoch"))
})

test("named faults are excluded, and the order of the others is kept", () => {
  const excluded: readonly FaultKind[] = ["corruption", "crash", "store-epoch"]
  expect(faultsExcept(...excluded)).toEqual(faultKinds.filter((kind) => !excluded.includes(kind)))
})

test("a store is restored only in a workload that names the fault", async () => {
  const enabled = async (workload: Pick<Workload, "faults">) => {
    const kinds = new Set<FaultKind>()
    const run: Workload["run"] = async (stage) => {
      for (const kind of faultKinds) if (stage.faults[kind] > 0) kinds.add(kind)
    }
    for (let seed = 1; seed <= 50; seed += 1) await runSeed({ name: "", about: "", ...workload, run }, seed)
    return kinds
  }
  expect(await enabled({})).toEqual(new Set(faultsExcept()))
  expect(await enabled({ faults: faultKinds })).toEqual(new Set(faultKinds))
  expect(await enabled({ faults: [...faultsExcept("crash"), "store-epoch"] })).toEqual(
    new Set(faultKinds.filter((kind) => kind !== "crash")),
  )
})
