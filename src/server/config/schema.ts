import { type ZodType, z } from 'zod'
import { ProtectedNames } from '../../access/index.ts'
import { isVfsError } from '../../vfs/index.ts'
import { accessModes, type Config, durabilities, engines, mountBackends, storageModes } from './config.ts'
import { keptFor } from './kept-vaults.ts'
import { mountProblem } from './mount-path.ts'

// The message of each issue says what is wanted at its place: `problems.ts` puts key and value around it.
const quoted = (what: string) => z.string({ error: what }).min(1, { error: what })
const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `one of ${values.join(', ')}` })
const count = (what: string) => {
  const error = `${what}, 0 or more`
  return z.int({ error }).min(0, { error })
}

/** A table that has these keys and no other; of an unknown one the message lists them. */
function table<const Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? Object.keys(shape).join(', ') : 'a table'),
  })
}

const directory = quoted('a directory in quotes').refine((path) => !path.startsWith('~'), {
  error: 'a directory written in full (~ is not expanded)',
})
const access = oneOf(accessModes).exactOptional()
const ownVault = quoted('a name in quotes').refine((name) => keptFor(name) === undefined, {
  error: ({ input }) => `another vault than the one that ${keptFor(String(input))}`,
})
const protectedName = quoted('a name or a glob in quotes').refine(isPattern, {
  error: 'a name or a glob that can match something',
})

const address = z.url({
  protocol: /^https?$/,
  error: 'a URL in quotes, such as "https://search.example.com/search"',
})
const variable = quoted('the name of a variable in quotes').regex(/^\w+$/, {
  error: 'the name of a variable, and not its value',
})

const mount = z.discriminatedUnion(
  'backend',
  [
    table({ backend: z.literal('host'), directory, access }),
    table({ backend: z.literal('memory'), access }),
    table({
      backend: z.literal('vault'),
      vault: quoted('a vault in quotes'),
      at: quoted('a checkpoint in quotes').exactOptional(),
      access,
    })
      .refine(({ at, access }) => at === undefined || access !== 'write', {
        path: ['access'],
        error: 'read where there is at, since a checkpoint does not change',
      })
      .superRefine(({ vault, access }, { addIssue }) => {
        const kept = keptFor(vault)
        if (kept === undefined || access !== 'write') return
        const message = `read where the vault is ${vault}, since it ${kept}`
        addIssue({ code: 'custom', path: ['access'], message })
      }),
  ],
  {
    error: ({ input }) => (isTable(input) ? `one of ${mountBackends.join(', ')}` : 'a table with a backend'),
  },
)

const mountsByPath = z
  .record(z.string(), mount, { error: 'tables such as [mounts."/docs"]' })
  .superRefine((all, ctx) => {
    const paths = Object.keys(all)
    for (const path of paths) {
      const problem = mountProblem(path, paths)
      if (problem !== undefined) ctx.addIssue({ code: 'custom', path: [path], params: { problem } })
    }
  })

/** A record passes over this key, and nothing is to be ignored. */
const PASSED_OVER = '__proto__'

const mounts = z
  .unknown()
  .superRefine((all, ctx) => {
    if (!isTable(all) || !Object.hasOwn(all, PASSED_OVER)) return
    ctx.addIssue({ code: 'custom', path: [PASSED_OVER], params: { problem: mountProblem(PASSED_OVER, []) } })
  })
  .pipe(mountsByPath)

/** What a `config.toml` may say. */
export const configSchema: ZodType<Config> = table({
  vault: ownVault.exactOptional(),
  engine: oneOf(engines).exactOptional(),
  durability: oneOf(durabilities).exactOptional(),
  vfs: table({ backend: oneOf(storageModes).exactOptional() }).exactOptional(),
  mounts: mounts.exactOptional(),
  tools: table({
    tool_output_cache_threshold: count('a number of characters').exactOptional(),
    tool_cache_preview_chars: count('a number of characters').exactOptional(),
    tool_cache_max_age_days: count('a number of days').exactOptional(),
    tool_cache_max_bytes: count('a number of bytes').exactOptional(),
  }).exactOptional(),
  host: table({
    allow: z.array(directory, { error: 'a list of directories in quotes' }).exactOptional(),
    protect: z.array(protectedName, { error: 'a list of names and globs in quotes' }).exactOptional(),
    protect_usual: z.boolean({ error: 'true or false' }).exactOptional(),
  }).exactOptional(),
  web: table({
    search_url: address.exactOptional(),
    search_token_env: variable.exactOptional(),
  }).exactOptional(),
})

function isPattern(pattern: string): boolean {
  try {
    new ProtectedNames([pattern])
    return true
  } catch (error) {
    if (isVfsError(error, 'EINVAL')) return false
    throw error
  }
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
