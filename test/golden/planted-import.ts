/**
 * Imports a source module with one part of its text replaced, without changing the file. The replacement is passed
 * in the query of the import to a plugin of the test runner (`vitest.config.ts`), which applies it before compiling.
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

/** The change that makes a module import another one, by its path there, with one place of its text changed. */
export function plantedImport(path: string, change: Change): Change {
  const query = new URLSearchParams({ planted: JSON.stringify(change) })
  return { from: `"${path}.js"`, to: `"${path}.ts?${query}"` }
}
