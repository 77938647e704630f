export { Dashboard, type DashboardListenOptions, dashboard } from "./dashboard.js"
export { DashboardAction } from "./dashboard-action.js"
export type { DashboardOptions, DashboardPrincipal, Redact } from "./options.js"
