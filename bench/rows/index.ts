// Every row of the table, one line each. They are measured in the order of their exported names.
export { pathFormat } from "./path-format.js"
export { pathLookup } from "./path-lookup.js"
export { pathParse } from "./path-parse.js"
export { pathParseHostile } from "./path-parse-hostile.js"
