import type { ComposedAgent, Composition } from './composition.ts'

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

/** Runs a process to its end. */
export type RunAgent = (
  name: string,
  agent: ComposedAgent,
  /** Forks whose files it starts from; none for the vault of the composition. */
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
    const agent = agents[name]
    const outcome =
      agent === undefined
        ? Promise.resolve(createSkippedOutcome(name, name))
        : runAfter(name, agent, outcomeOf, run)
    outcomes.set(name, outcome)
    return outcome
  }
  return Promise.all(Object.keys(agents).map(outcomeOf))
}

async function runAfter(
  name: string,
  agent: ComposedAgent,
  getOutcome: (name: string) => Promise<ComposeOutcome>,
  run: RunAgent,
): Promise<ComposeOutcome> {
  const before = await Promise.all(agent.depends_on.map(getOutcome))
  const failed = before.find(({ state }) => state !== 'done')
  if (failed !== undefined) return createSkippedOutcome(name, failed.name)
  try {
    const { pid, fork, exit_code, result, reason } = await run(
      name,
      appendOutputs(agent, before),
      listForks(agent, before),
    )
    return { name, state: exit_code === 0 ? 'done' : 'failed', pid, fork, result, reason }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { name, state: 'failed', pid: null, fork: null, result: '', reason }
  }
}

/** Appends the results of the dependencies to the intent. */
function appendOutputs(agent: ComposedAgent, before: readonly ComposeOutcome[]): ComposedAgent {
  const outputs = before.map(({ name, result }) => `Output of ${name}:\n${result}`)
  return { ...agent, intent: [agent.intent, ...outputs].join('\n\n') }
}

/** Lists the forks of those it starts from. */
function listForks(
  { depends_on, from = depends_on }: ComposedAgent,
  before: readonly ComposeOutcome[],
): string[] {
  return before.flatMap(({ name, fork }) => (fork !== null && from.includes(name) ? [fork] : []))
}

function createSkippedOutcome(name: string, failed: string): ComposeOutcome {
  const reason = `'${failed}' did not succeed`
  return { name, state: 'skipped', pid: null, fork: null, result: '', reason }
}
