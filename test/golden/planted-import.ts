/**
 * Gives a source module with one place of its text changed, and leaves the file alone. The change travels in the
 * import's query to a plugin of the test runner (`vitest.config.ts`), which makes it before the text is compiled.
 */
export async function importPlanted<Module>(url: URL, change: Change): Promise<Module> {
  const planted = new URL(url)
  planted.searchParams.set("planted", JSON.stringify(change))
  return (await import(/* @vite-ignore */ `${planted.pathname}${planted.search}`)) as Module
}

export interface Change {
  readonly from: string
  readonly to: string
}
