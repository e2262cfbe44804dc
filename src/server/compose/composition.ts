import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { VfsError } from '../../vfs/index.ts'

/** A process of a composition. */
export interface ComposedAgent {
  readonly intent: string
  readonly agent?: string | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly budget?: number | undefined
  readonly skills?: readonly string[] | undefined
  /** A file of answers in place of a model. */
  readonly script?: string | undefined
  readonly max_steps?: number | undefined
  readonly depends_on: readonly string[]
}

export interface Composition {
  /** What each works on a fork of; the vault at hand when absent. */
  readonly vault?: string | undefined
  readonly agents: Readonly<Record<string, ComposedAgent>>
}

const words = z.string().trim().min(1)

const composition: z.ZodType<Composition> = z.strictObject({
  vault: words.optional(),
  agents: z.record(
    words,
    z.strictObject({
      intent: words,
      agent: words.optional(),
      provider: words.optional(),
      model: words.optional(),
      budget: z.int().nonnegative().optional(),
      skills: z.array(words).optional(),
      script: words.optional(),
      max_steps: z.int().positive().optional(),
      depends_on: z.array(words).default([]),
    }),
  ),
})

/** Reads a composition. EINVAL with the line of what is wrong: also a dependency that is not there, and a circle. */
export function parseComposition(file: string, text: string): Composition {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [fault] = document.errors
  if (fault !== undefined) throw wrong(file, lines.linePos(fault.pos[0]).line, fault.message)
  const lineOf = (keys: readonly PropertyKey[]) => {
    for (let length = keys.length; length > 0; length--) {
      const node = document.getIn(keys.slice(0, length), true)
      const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
      if (Array.isArray(range) && typeof range[0] === 'number') return lines.linePos(range[0]).line
    }
    return 1
  }
  const read = composition.safeParse(document.toJS())
  if (!read.success) {
    const [issue] = read.error.issues
    const path = issue?.path ?? []
    throw wrong(file, lineOf(path), `'${path.join('.')}': ${issue?.message ?? 'that is no composition'}`)
  }
  assertLayers(file, read.data, lineOf)
  return read.data
}

function assertLayers(
  file: string,
  { agents }: Composition,
  lineOf: (keys: readonly PropertyKey[]) => number,
): void {
  for (const [name, { depends_on }] of Object.entries(agents)) {
    const at = lineOf(['agents', name, 'depends_on'])
    const missing = depends_on.find((other) => !Object.hasOwn(agents, other))
    if (missing !== undefined) {
      const known = Object.keys(agents).join(', ')
      throw wrong(file, at, `'${name}' depends on '${missing}', which is not there; there is: ${known}`)
    }
    const circle = circleFrom(name, agents)
    if (circle !== undefined) throw wrong(file, at, `a circle of dependencies: ${circle.join(' → ')}`)
  }
}

/** The way from an agent back to itself, if there is one. */
function circleFrom(name: string, agents: Composition['agents']): readonly string[] | undefined {
  const met = new Set<string>()
  const trails: string[][] = [[name]]
  for (let trail = trails.pop(); trail !== undefined; trail = trails.pop()) {
    for (const other of agents[trail.at(-1) ?? '']?.depends_on ?? []) {
      if (other === name) return [...trail, name]
      if (!met.has(other)) trails.push([...trail, other])
      met.add(other)
    }
  }
  return undefined
}

function wrong(file: string, line: number, problem: string): VfsError {
  return new VfsError('EINVAL', file, { op: 'compose', detail: `${file}: line ${line}: ${problem}` })
}
