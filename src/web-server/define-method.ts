import { z } from 'zod'
import { VfsError } from '../vfs/index.ts'
import { MAX_PAGE_ITEMS, type WebMethodName, type WebMethods, webMethods } from '../web-api/index.ts'
import type { HandledMethod } from './transport/index.ts'

/** Methods by name. */
export type MethodTable<Name extends WebMethodName> = Readonly<Record<Name, HandledMethod>>

const MAX_TEXT = 4096

/** Values of a query: text, whole numbers and true or false. */
export const query: {
  readonly text: z.ZodString
  readonly number: z.ZodType<number>
  readonly flag: z.ZodType<boolean>
} = {
  text: z.string().max(MAX_TEXT),
  number: z
    .string()
    .regex(/^(?:0|[1-9]\d{0,14})$/, 'must be a whole number')
    .transform(Number),
  flag: z.enum(['true', 'false']).transform((text) => text === 'true'),
}

/** Parameters of a page, in a query. */
export const pageShape: {
  readonly limit: z.ZodExactOptional<z.ZodType<number>>
  readonly cursor: z.ZodExactOptional<z.ZodString>
} = {
  limit: query.number
    .refine((limit) => limit >= 1 && limit <= MAX_PAGE_ITEMS, {
      error: `must be from 1 to ${MAX_PAGE_ITEMS}`,
    })
    .exactOptional(),
  cursor: query.text.exactOptional(),
}

/** A file of a tree, in a query. */
export const fileShape: { readonly tree: z.ZodString; readonly path: z.ZodString } = {
  tree: query.text,
  path: query.text,
}

/** Defines a method: checks its parameters, and performs it. */
export function defineWebMethod<Name extends WebMethodName>(
  name: Name,
  params: z.ZodType<WebMethods[Name]['params']>,
  run: (params: WebMethods[Name]['params'], signal: AbortSignal) => Promise<WebMethods[Name]['result']>,
): HandledMethod {
  return {
    verb: webMethods[name],
    run: async (given, signal) => run(parseParams(name, params, given), signal),
  }
}

/** Defines a method whose result is sent as it is: it is redacted already, or no text. */
export function defineExactMethod<Name extends WebMethodName>(
  ...definition: Parameters<typeof defineWebMethod<Name>>
): HandledMethod {
  return { ...defineWebMethod(...definition), isExact: true }
}

function parseParams<Params>(name: string, schema: z.ZodType<Params>, given: unknown): Params {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const where = issue === undefined || issue.path.length === 0 ? 'the request' : `'${issue.path.join('.')}'`
  const detail = `${where} of ${name}: ${issue?.message ?? 'not valid'}`
  throw new VfsError('EINVAL', '/', { op: 'request', detail })
}
