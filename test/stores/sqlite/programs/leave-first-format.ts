/** Creates a store of the first format, whose keys are the other arguments, and keeps it open. */
import { loadDriver } from "../../../../src/stores/sqlite/driver.js"
import { createFirstFormat } from "../first-format.js"
import { report } from "./store-of-program.js"

const [file, ...keys] = process.argv.slice(2) as [string, ...string[]]
const connection = (await loadDriver())(file)
createFirstFormat(connection, file, keys)
report("open")
process.once("disconnect", () => process.exit())
