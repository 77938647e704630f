/** The module that another thread of this process loads to open the same store. */
export { postgresStore as provider } from "./postgres-store.js"
