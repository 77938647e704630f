import { expect, it } from "vitest"
import { apiReport } from "./api-report.js"

const files: Readonly<Record<string, string>> = {
  "index.d.ts": `
    export { type Shape as Form, area } from "./shapes/shape.js";
    export { Line } from "./point.js";
    export declare const unit: "cm";
    export { unit as length };`,
  "shapes/shape.d.ts": `
import type { EventEmitter } from "node:events";
import { Point } from "../point.js";
/** A shape. */
export interface Shape<T extends Point = Point> extends EventEmitter {
    /** Its corners. */
    readonly corners: readonly T[];
    name: string; // as it is shown
}
export declare function area(shape: Shape): number;
export declare function area(shapes: Shape[], scale: Scale): number;
type Scale = keyof typeof scales;
declare const scales: {
    readonly one: 1;
};
export interface Unrelated {
}
//# sourceMappingURL=shape.js.map`,
  "point.d.ts": `
export declare class Point {
    #private;
    private constructor();
    static readonly origin: /* it exists once */ Origin;
    readonly x: number;
}
declare class Origin extends Point {
}
export declare class Line {
    constructor(from: Point);
    static of(...points: Point[]): Line;
}`,
}

it("shows what is exported, and what that refers to, without comments", () => {
  const report = apiReport("index.d.ts", (path) => files[path] as string)
  expect(report).toBe(`# Form:
interface Shape<T extends Point = Point> extends EventEmitter {
    readonly corners: readonly T[];
    name: string;
}

class Line {
    constructor(from: Point);
    static of(...points: Point[]): Line;
}

function area(shape: Shape): number;
function area(shapes: Shape[], scale: Scale): number;

# length:
const unit: "cm";

const unit: "cm";

# not exported, but part of the above

class Point {
    #private;
    readonly x: number;
}

type Scale = keyof typeof scales;

const scales: {
    readonly one: 1;
};
`)
})

it("leaves what the main entry point exports to its report", () => {
  const report = apiReport("shapes/shape.d.ts", (path) => files[path] as string, "point.d.ts")
  expect(report).toContain("interface Shape<T extends Point = Point>")
  expect(report).not.toContain("class Point")
})

it.each([
  ["a star", `export * from "./other.js"`],
  ["a default", "export default 1"],
  ["a namespace", `import * as other from "./other.js"`],
])("refuses %s, which it could not show", (_, text) => {
  expect(() => apiReport("index.d.ts", () => text)).toThrow(/a form that the report does not know/)
})

it("refuses an export that does not exist", () => {
  const other: Readonly<Record<string, string>> = {
    "index.d.ts": `export { gone } from "./other.js"`,
    "other.d.ts": "export {}",
  }
  expect(() => apiReport("index.d.ts", (path) => other[path] as string)).toThrow(
    "other.d.ts does not export gone",
  )
})
