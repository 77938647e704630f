import { plantAsked } from "./command/command-line.js"
import { importPlanted } from "./planted/planted-module.js"
import { plantings } from "./planted/plantings.js"

// A bug is planted while its module is loaded: whatever leads to `src` is imported here, and not up there.
const load = () => import("./command/sim-command.js")

const args = process.argv.slice(2)
const asked = plantAsked(args)
const planting = plantings.find(({ name }) => name === asked)
const loading = planting === undefined ? load() : importPlanted(planting, load).catch(refuse)
const { simCommand } = await loading
await simCommand(args)

function refuse({ message }: Error): never {
  process.stderr.write(`sim: ${message}\n`)
  process.exit(2)
}
