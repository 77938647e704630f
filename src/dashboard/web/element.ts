type Child = Node | string | number | undefined | false

interface Attributes {
  readonly [name: string]: string | number | boolean | undefined | ((event: never) => void)
}

/** Creates an element. Texts are texts, never markup: nothing that the server sends can become an element. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return fill(document.createElement(tag), attributes, children)
}

/** Creates an element of a picture. */
export function s<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children)
}

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    if (typeof value === "function") element.addEventListener(name, value as (event: Event) => void)
    else element.setAttribute(name, value === true ? "" : String(value))
  }
  append(element, children)
  return element
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child !== undefined && child !== false)
      element.append(typeof child === "number" ? String(child) : child)
  }
}

/** Replaces what is in an element. */
export function put(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren()
  append(element, children)
}

/** Sets a text, if it is another one: a reader of the screen says again what is set again. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/**
 * The children of an element, one for each item, by key: an element that stays keeps the focus and the
 * selection of text that it has.
 */
export class Rows<Item, Row extends Element> {
  readonly #parent: Element
  readonly #keyOf: (item: Item) => string
  readonly #create: (item: Item) => Row
  readonly #update: (row: Row, item: Item) => void
  readonly #rows = new Map<string, Row>()

  constructor(
    parent: Element,
    keyOf: (item: Item) => string,
    { create, update }: { create: (item: Item) => Row; update?: (row: Row, item: Item) => void },
  ) {
    this.#parent = parent
    this.#keyOf = keyOf
    this.#create = create
    this.#update = update ?? (() => {})
  }

  show(items: readonly Item[]): void {
    const counts = new Map<string, number>()
    const keyed = items.map((item) => {
      const name = this.#keyOf(item)
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      return { item, key: count === 1 ? name : `${name} ${count}` }
    })
    const keys = new Set(keyed.map(({ key }) => key))
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue
      row.remove()
      this.#rows.delete(key)
    }
    let after: Element | null = null
    for (const { item, key } of keyed) {
      const row = this.#rows.get(key) ?? this.#create(item)
      this.#rows.set(key, row)
      this.#update(row, item)
      const next: Element | null = after === null ? this.#parent.firstElementChild : after.nextElementSibling
      if (next !== row) this.#parent.insertBefore(row, next)
      after = row
    }
  }
}
