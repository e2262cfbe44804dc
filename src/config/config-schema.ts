import { type ZodType, z } from 'zod'
import { ProtectedNames } from '../access/index.ts'
import { isVfsError } from '../vfs/index.ts'
import { accessModes, type Config, durabilities, engines, mountBackends, storageModes } from './config.ts'
import { findMountProblem } from './mount-path.ts'
import { findReservedPurpose } from './reserved-vaults.ts'

// The message of each issue names the expected value; `config-problems.ts` adds the key and the value. `params.problem` is
// a whole message in its place.
const nonEmptyString = (what: string) => z.string({ error: what }).min(1, { error: what })
const choiceSchema = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `one of ${values.join(', ')}` })
const nonNegativeInt = (what: string) => {
  const error = `${what}, 0 or more`
  return z.int({ error }).min(0, { error })
}

const positiveInt = (what: string) => {
  const error = `${what}, 1 or more`
  return z.int({ error }).min(1, { error })
}

/** Longest delay of a timer, in seconds. Node fires a longer one at once. */
const MAX_TIMER_SECONDS = Math.floor((2 ** 31 - 1) / 1000)
const timerSeconds = () => {
  const error = `a number of seconds from 1 to ${MAX_TIMER_SECONDS}`
  return z.int({ error }).min(1, { error }).max(MAX_TIMER_SECONDS, { error })
}

/** Creates a table with exactly these keys; the message for an unknown key lists them. */
function strictTable<const Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? Object.keys(shape).join(', ') : 'a table'),
  })
}

const directory = nonEmptyString('a directory in quotes').refine((path) => !path.startsWith('~'), {
  error: 'a directory written in full (~ is not expanded)',
})
const access = choiceSchema(accessModes).exactOptional()
/** The default vault of commands. `findReservedPurpose` returns a phrase such as `holds the zones of all contexts`. */
const unreservedVault = nonEmptyString('a name in quotes').refine(
  (name) => findReservedPurpose(name) === undefined,
  {
    error: ({ input }) => `another vault than the one that ${findReservedPurpose(String(input))}`,
  },
)
const protectedName = nonEmptyString('a name or a glob in quotes').refine(isFileNamePattern, {
  error: 'a name or a glob that can match a file name',
})

const address = z.url({
  protocol: /^https?$/,
  error: 'a URL in quotes, such as "https://search.example.com/search"',
})
const variableName = nonEmptyString('the name of a variable in quotes').regex(/^\w+$/, {
  error: 'the name of a variable, not its value',
})

/** A host to which the value of a secret may be sent. */
const secretHost = nonEmptyString('a host in quotes').regex(
  /^(?:\*\.)?(?:\[[\da-fA-F:]+\]|[\p{L}\p{N}_](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?)(?::\d{1,5})?$/u,
  { error: 'a host such as api.example.com, *.example.com or example.com:8443' },
)

const mount = z.discriminatedUnion(
  'backend',
  [
    strictTable({ backend: z.literal('host'), directory, access }),
    strictTable({ backend: z.literal('memory'), access }),
    strictTable({
      backend: z.literal('vault'),
      vault: nonEmptyString('a vault in quotes'),
      at: nonEmptyString('a checkpoint in quotes').exactOptional(),
      access,
    })
      .refine(({ at, access }) => at === undefined || access !== 'write', {
        path: ['access'],
        error: 'read together with at, since a checkpoint is read-only',
      })
      .superRefine(({ vault, access }, { addIssue }) => {
        const purpose = findReservedPurpose(vault)
        if (purpose === undefined || access !== 'write') return
        const message = `read for the vault ${vault}, since it ${purpose}`
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
      const problem = findMountProblem(path, paths)
      if (problem !== undefined) ctx.addIssue({ code: 'custom', path: [path], params: { problem } })
    }
  })

/** Zod's records skip this key, but no key may be ignored. */
const PROTO_KEY = '__proto__'

const mounts = z
  .unknown()
  .superRefine((all, ctx) => {
    if (!isTable(all) || !Object.hasOwn(all, PROTO_KEY)) return
    ctx.addIssue({ code: 'custom', path: [PROTO_KEY], params: { problem: findMountProblem(PROTO_KEY, []) } })
  })
  .pipe(mountsByPath)

/** Schema of `config.toml`. */
export const configSchema: ZodType<Config> = strictTable({
  vault: unreservedVault.exactOptional(),
  engine: choiceSchema(engines).exactOptional(),
  durability: choiceSchema(durabilities).exactOptional(),
  vfs: strictTable({ backend: choiceSchema(storageModes).exactOptional() }).exactOptional(),
  mounts: mounts.exactOptional(),
  tools: strictTable({
    tool_output_cache_threshold: nonNegativeInt('a number of characters').exactOptional(),
    tool_cache_preview_chars: nonNegativeInt('a number of characters').exactOptional(),
    tool_cache_max_age_days: nonNegativeInt('a number of days').exactOptional(),
    tool_cache_max_bytes: nonNegativeInt('a number of bytes').exactOptional(),
  }).exactOptional(),
  host: strictTable({
    allow: z.array(directory, { error: 'a list of directories in quotes' }).exactOptional(),
    protect: z.array(protectedName, { error: 'a list of names and globs in quotes' }).exactOptional(),
    protect_usual: z.boolean({ error: 'true or false' }).exactOptional(),
  }).exactOptional(),
  web: strictTable({
    search_url: address.exactOptional(),
    search_token_env: variableName.exactOptional(),
  }).exactOptional(),
  secrets: strictTable({
    mask: z
      .array(nonEmptyString('a name or a glob in quotes'), { error: 'a list of names and globs in quotes' })
      .exactOptional(),
    mask_usual: z.boolean({ error: 'true or false' }).exactOptional(),
    mask_agents: z.boolean({ error: 'true or false' }).exactOptional(),
    mask_commands: z.boolean({ error: 'true or false' }).exactOptional(),
    inject: z
      .record(z.string(), z.array(secretHost, { error: 'a list of hosts in quotes' }), {
        error: 'a table of keys, each with a list of hosts',
      })
      .exactOptional(),
  }).exactOptional(),
  undo: strictTable({
    exclude: z
      .array(nonEmptyString('a pattern in quotes'), { error: 'a list of patterns in quotes' })
      .exactOptional(),
    max_ignored_bytes: nonNegativeInt('a number of bytes').exactOptional(),
    watch: z.boolean({ error: 'true or false' }).exactOptional(),
  }).exactOptional(),
  processes: strictTable({
    provider: nonEmptyString('a provider in quotes').exactOptional(),
    model: nonEmptyString('a model in quotes').exactOptional(),
    max_steps: positiveInt('a number of steps').exactOptional(),
    budget: nonNegativeInt('a number of tokens').exactOptional(),
    timeout_seconds: timerSeconds().exactOptional(),
    retry_seconds: nonNegativeInt('a number of seconds').exactOptional(),
    question_seconds: timerSeconds().exactOptional(),
    extensions: z
      .array(nonEmptyString('a module in quotes'), { error: 'a list of modules in quotes' })
      .exactOptional(),
  }).exactOptional(),
})

function isFileNamePattern(pattern: string): boolean {
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
