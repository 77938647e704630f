import { duration } from "../tools/human-number.js"
import { bold, green, red } from "./colours.js"
import { balances, calls, counted, type Figures, rows } from "./figures.js"

/** The main figures in a line, where there is no terminal. */
export function line(figures: Figures): string {
  const states = figures.nodes.map(
    ({ process: { name, state }, hosted }) =>
      `${name} ${state === "up" ? counted(hosted.size, "actor") : state}`,
  )
  return `${states.join(", ")}; ${calls(figures)}; balances ${balances(figures)}`
}

/** The result: the figures, the verdict, and what to do next. */
export function summary(figures: Figures, problems: readonly string[]): string {
  const table = [
    `took       ${duration(figures.elapsedMs)}`,
    `calls      ${calls(figures)}`,
    ...rows(figures),
  ]
  return ["", ...table, "", ...(problems.length === 0 ? right(figures) : wrong(problems))].join("\n")
}

function right({ options }: Figures): readonly string[] {
  return [
    green(`all ${options.accounts} accounts are right: every acknowledged transfer is there, once`),
    "",
    bold("What next"),
    "  docs/tutorial.md        a chat room of your own in ten minutes",
    "  demo/bank-account.ts    the actor that you have just seen",
    "  docs/virtual-actors.md  calls, state, failures: all that such an actor can do",
    "  npm start -- --help     more nodes, more accounts, slower failovers",
  ]
}

function wrong(problems: readonly string[]): readonly string[] {
  const more = problems.length - MAX_PROBLEMS
  return [
    ...problems.slice(0, MAX_PROBLEMS),
    ...(more > 0 ? [`and ${more} more`] : []),
    "",
    red("something is off"),
  ]
}

const MAX_PROBLEMS = 20
