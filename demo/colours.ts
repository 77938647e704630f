import { styleText } from "node:util"

type Format = Parameters<typeof styleText>[0]

/** The screen takes the colours out where they are not wanted. */
const painted = (format: Format) => (text: string) => styleText(format, text, { validateStream: false })

export const bold = painted("bold")
export const cyan = painted("cyan")
export const dim = painted("dim")
export const green = painted("green")
export const inverse = painted("inverse")
export const red = painted("red")
export const yellow = painted("yellow")
