import { decodedValue, encodedValue } from "../cluster/store-history.js"
import type { Profile } from "./profile.js"
import { wholeText } from "./stored-profiles.js"

/** The actors in the lines of an export, each as one text. */
export function exportedIn(
  lines: readonly string[],
): readonly { readonly key: string; readonly whole: string }[] {
  return actorsIn(lines).map(({ actor, rows }) => ({
    key: actor.actor,
    whole: wholeText(
      bytesOf(actor.value),
      actor.memory === undefined ? undefined : bytesOf(actor.memory),
      rows.map(({ row, value }) => [row, bytesOf(value)]),
    ),
  }))
}

/** The export of one actor alone, under another key and in a life of its own; undefined if it is not there. */
export function copyOf(
  lines: readonly string[],
  { from, to, life }: { readonly from: string; readonly to: string; readonly life: string },
): readonly string[] | undefined {
  const found = actorsIn(lines).find(({ actor }) => actor.actor === from)
  if (found === undefined) return undefined
  const state = decodedValue(bytesOf(found.actor.value)) as Profile
  const value = Buffer.from(encodedValue({ ...state, life, applied: [], fired: 0 })).toString("base64")
  return [
    lines[0] as string,
    JSON.stringify({ ...found.actor, actor: to, value }),
    ...found.rows.map((row) => JSON.stringify(row)),
    JSON.stringify({ end: true, actors: 1 }),
  ]
}

function actorsIn(lines: readonly string[]): readonly { actor: ActorLine; rows: RowLine[] }[] {
  const actors: { actor: ActorLine; rows: RowLine[] }[] = []
  for (const line of lines) {
    const said = JSON.parse(line) as Partial<ActorLine & RowLine>
    if (said.actor !== undefined) actors.push({ actor: said as ActorLine, rows: [] })
    else if (said.row !== undefined) actors.at(-1)?.rows.push(said as RowLine)
  }
  return actors
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, "base64")
}

interface ActorLine {
  readonly actor: string
  readonly value: string
  readonly memory?: string
}

interface RowLine {
  readonly row: string
  readonly value: string
}
