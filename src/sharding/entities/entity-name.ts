/** Says whether a value can be the id of an entity. */
export function isEntityId(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= LONGEST_ID && isWellFormed(value)
}

/** Returns the name of an entity in paths, in which far fewer characters are allowed than in an id. */
export function segmentOfEntity(entityId: string): string {
  return encodeURIComponent(entityId)
    .replace(/^\./, "%2E")
    .replace(/[()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%", "=")
}

/** Returns the id that a name encodes; undefined if none does. */
export function entityOfSegment(segment: string): string | undefined {
  try {
    const entityId = decodeURIComponent(segment.replaceAll("=", "%"))
    return isEntityId(entityId) && segmentOfEntity(entityId) === segment ? entityId : undefined
  } catch {
    return undefined
  }
}

/** Lone surrogates have no UTF-8. */
function isWellFormed(text: string): boolean {
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text)
}

const LONGEST_ID = 500
