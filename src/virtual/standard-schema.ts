/**
 * A validator that implements the Standard Schema interface (version 1), as those of zod, valibot and arktype
 * do.
 */
export interface StandardSchema {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    validate(value: unknown): SchemaResult | Promise<SchemaResult>
  }
}

export type SchemaResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}
