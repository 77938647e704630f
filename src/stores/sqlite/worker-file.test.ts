import { expect, it } from "vitest"
import { StoreUnavailableError } from "../../errors/store-errors.js"
import { sqliteStore } from "./sqlite-store.js"

it("refuses to create a store where the program of its thread is missing, as it is beside the sources", () => {
  const creating = () => sqliteStore({ file: "store.db" })
  expect(creating).toThrow(StoreUnavailableError)
  expect(creating).toThrow(
    /not at .*\/src\/stores\/sqlite\/sqlite-worker\.js; .*--packages=external.* troupe\/sqlite\/worker to that/,
  )
})
