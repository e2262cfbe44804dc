import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import {
  type ProcessOptions,
  processOptionShape,
  type Restart,
  restartSchema,
  type SupervisorOptions,
  supervisorOptionShape,
} from '../kernel/index.ts'
import { VfsError } from '../vfs/index.ts'

/** Task and options of a process. */
interface ComposedTask extends ProcessOptions {
  readonly intent: string
  readonly agent?: string | undefined
  /** A file of responses in place of a model. */
  readonly script?: string | undefined
}

/** Place of a process in the order of a composition. */
interface ComposedOrder {
  readonly depends_on: readonly string[]
  /** Processes whose files it starts from; all it depends on when absent, those of the composition for none. */
  readonly from?: readonly string[] | undefined
}

/** A process of a composition. */
export interface ComposedAgent extends ComposedTask, ComposedOrder {}

/** A child of a supervisor. */
interface ComposedChild extends ComposedTask {
  readonly restart: Restart
}

/** A supervisor of a composition. It is done when all its children are. */
export interface ComposedSupervisor extends SupervisorOptions, ComposedOrder {
  readonly groups?: readonly string[] | undefined
  readonly children: readonly ComposedChild[]
}

export interface Composition {
  /** Vault that each process forks; the current directory or vault when absent. */
  readonly vault?: string | undefined
  /** Groups that all processes join. */
  readonly groups?: readonly string[] | undefined
  readonly agents: Readonly<Record<string, ComposedAgent | ComposedSupervisor>>
}

const nonEmptyString = z.string().trim().min(1)

const taskShape = {
  intent: nonEmptyString,
  agent: nonEmptyString.optional(),
  ...processOptionShape,
  script: nonEmptyString.optional(),
}

const orderShape = {
  depends_on: z.array(nonEmptyString).default([]),
  from: z.union([z.array(nonEmptyString), nonEmptyString.transform((name) => [name])]).optional(),
}

const agentSchema = z.strictObject({ ...taskShape, ...orderShape })

const supervisorSchema = z.strictObject({
  ...supervisorOptionShape,
  ...orderShape,
  groups: processOptionShape.groups,
  // A model that is done has no reason to begin again, so a child restarts after a failure only.
  children: z.array(z.strictObject({ ...taskShape, restart: restartSchema.default('transient') })).min(1),
})

/** Checks an entry as what its keys say it is: a union of both would name neither's problem. */
const nodeSchema = z.unknown().transform((node, ctx): ComposedAgent | ComposedSupervisor => {
  const isSupervisor = typeof node === 'object' && node !== null && ('strategy' in node || 'children' in node)
  const read = (isSupervisor ? supervisorSchema : agentSchema).safeParse(node)
  if (read.success) return read.data
  for (const { path, message } of read.error.issues) ctx.addIssue({ code: 'custom', path, message })
  return z.NEVER
})

const compositionSchema: z.ZodType<Composition> = z.strictObject({
  vault: nonEmptyString.optional(),
  groups: processOptionShape.groups,
  agents: z.record(nonEmptyString, nodeSchema),
})

/** Parses a composition. EINVAL with the line of the problem, also for a missing dependency or a cycle. */
export function parseComposition(file: string, text: string): Composition {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [fault] = document.errors
  if (fault !== undefined) throw createCompositionError(file, lines.linePos(fault.pos[0]).line, fault.message)
  const findLine = (keys: readonly PropertyKey[]) => {
    for (let length = keys.length; length > 0; length--) {
      const node = document.getIn(keys.slice(0, length), true)
      const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
      if (Array.isArray(range) && typeof range[0] === 'number') return lines.linePos(range[0]).line
    }
    return 1
  }
  const read = compositionSchema.safeParse(document.toJS())
  if (!read.success) {
    const [issue] = read.error.issues
    const path = issue?.path ?? []
    throw createCompositionError(
      file,
      findLine(path),
      `'${path.join('.')}': ${issue?.message ?? 'not a valid composition'}`,
    )
  }
  assertDependencies(file, read.data, findLine)
  return read.data
}

function assertDependencies(
  file: string,
  { agents }: Composition,
  findLine: (keys: readonly PropertyKey[]) => number,
): void {
  for (const [name, { depends_on, from }] of Object.entries(agents)) {
    const at = findLine(['agents', name, 'depends_on'])
    const missing = depends_on.find((dependency) => !Object.hasOwn(agents, dependency))
    if (missing !== undefined) {
      const known = Object.keys(agents).join(', ')
      throw createCompositionError(
        file,
        at,
        `'${name}' depends on '${missing}', which does not exist; there are: ${known}`,
      )
    }
    const undeclared = from?.find((source) => !depends_on.includes(source))
    if (undeclared !== undefined) {
      const at = findLine(['agents', name, 'from'])
      throw createCompositionError(file, at, `'${name}' starts from '${undeclared}', and has to depend on it`)
    }
    const circle = findCycle(name, agents)
    if (circle !== undefined)
      throw createCompositionError(file, at, `the dependencies form a cycle: ${circle.join(' → ')}`)
  }
}

/** Returns the path from an agent back to itself, if there is one. */
function findCycle(name: string, agents: Composition['agents']): readonly string[] | undefined {
  const visited = new Set<string>()
  const trails: string[][] = [[name]]
  for (let trail = trails.pop(); trail !== undefined; trail = trails.pop()) {
    for (const dependency of agents[trail.at(-1) ?? '']?.depends_on ?? []) {
      if (dependency === name) return [...trail, name]
      if (!visited.has(dependency)) trails.push([...trail, dependency])
      visited.add(dependency)
    }
  }
  return undefined
}

function createCompositionError(file: string, line: number, problem: string): VfsError {
  return new VfsError('EINVAL', file, { op: 'compose', detail: `${file}: line ${line}: ${problem}` })
}
