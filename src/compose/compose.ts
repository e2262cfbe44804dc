import type { ComposedAgent, ComposedSupervisor, Composition } from './composition.ts'

type ComposedNode = ComposedAgent | ComposedSupervisor

/** Outcome of one process. */
export interface ComposeOutcome {
  readonly name: string
  /** `skipped`: a dependency failed, so it never started. */
  readonly state: 'done' | 'failed' | 'skipped'
  readonly pid: number | null
  readonly fork: string | null
  readonly result: string
  readonly reason: string
}

const NOT_STARTED = { pid: null, fork: null, result: '' } as const

/** Runs a process or a supervisor to its end. */
export type RunAgent = (
  name: string,
  node: ComposedNode,
  /** Forks whose files it starts from; none for those of the composition. */
  forks: readonly string[],
) => Promise<{
  readonly pid: number
  readonly fork: string | null
  readonly exit_code: number | null
  readonly result: string
  readonly reason: string
}>

/** Runs all processes, each as soon as its dependencies are done. Returns the outcomes in the order of the file. */
export async function compose({ agents }: Composition, run: RunAgent): Promise<ComposeOutcome[]> {
  const outcomes = new Map<string, Promise<ComposeOutcome>>()
  const outcomeOf = (name: string): Promise<ComposeOutcome> => {
    const known = outcomes.get(name)
    if (known !== undefined) return known
    const node = agents[name]
    const outcome =
      node === undefined
        ? Promise.resolve(createSkippedOutcome(name, name))
        : runAfter(name, node, outcomeOf, run)
    outcomes.set(name, outcome)
    return outcome
  }
  return Promise.all(Object.keys(agents).map(outcomeOf))
}

/** Returns the outcomes whose files no other process started from: together they have all the work. */
export function listFinalOutcomes(
  { agents }: Composition,
  outcomes: readonly ComposeOutcome[],
): ComposeOutcome[] {
  const done = outcomes.filter(({ state }) => state === 'done')
  const continued = new Set(
    done.flatMap(({ name }) => {
      const node = agents[name]
      return node === undefined ? [] : listSources(node)
    }),
  )
  return done.filter(({ name }) => !continued.has(name))
}

async function runAfter(
  name: string,
  node: ComposedNode,
  getOutcome: (name: string) => Promise<ComposeOutcome>,
  run: RunAgent,
): Promise<ComposeOutcome> {
  const before = await Promise.all(node.depends_on.map(getOutcome))
  const failed = before.find(({ state }) => state !== 'done')
  if (failed !== undefined) return createSkippedOutcome(name, failed.name)
  try {
    const { pid, fork, exit_code, result, reason } = await run(
      name,
      appendOutputs(node, before),
      listForks(node, before),
    )
    return { name, state: exit_code === 0 ? 'done' : 'failed', pid, fork, result, reason }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { name, state: 'failed', ...NOT_STARTED, reason }
  }
}

/** Appends the results of the dependencies to the intent, or to that of each child. */
function appendOutputs(node: ComposedNode, before: readonly ComposeOutcome[]): ComposedNode {
  const outputs = before.map(({ name, result }) => `Output of ${name}:\n${result}`)
  const append = (intent: string) => [intent, ...outputs].join('\n\n')
  if (!('children' in node)) return { ...node, intent: append(node.intent) }
  return { ...node, children: node.children.map((child) => ({ ...child, intent: append(child.intent) })) }
}

/** Lists the forks of those it starts from. */
function listForks(node: ComposedNode, before: readonly ComposeOutcome[]): string[] {
  const sources = listSources(node)
  return before.flatMap(({ name, fork }) => (fork !== null && sources.includes(name) ? [fork] : []))
}

function listSources({ depends_on, from = depends_on }: ComposedNode): readonly string[] {
  return from
}

function createSkippedOutcome(name: string, failed: string): ComposeOutcome {
  const reason = `'${failed}' did not succeed`
  return { name, state: 'skipped', ...NOT_STARTED, reason }
}
