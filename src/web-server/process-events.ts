import { toWebProcess, toWebQuestion } from './methods/home-methods.ts'
import type { WebContext } from './web-context.ts'

const STEP = /^step (\d{1,9}): /
/** Calls of the trace after which the state of a process differs. */
const STATE_CALLS: ReadonlySet<string> = new Set([
  'spawned',
  'running',
  'paused',
  'resumed',
  'stalled',
  'ended',
  'reaped',
  'budget_exceeded',
])
const LOG_CALLS: ReadonlySet<string> = new Set(['log', 'tool', 'budget_exceeded'])

/** Adds the events of processes and their questions until the signal aborts. */
export async function followProcesses(web: WebContext, signal: AbortSignal): Promise<void> {
  const { agents, events } = web
  const detach = agents.tty.attach({
    onAsked: (asked) => events.add({ type: 'asked', question: toWebQuestion(asked) }),
    onSettled: (id) => events.add({ type: 'settled', id }),
  })
  try {
    for await (const line of agents.trace(undefined, true, signal)) {
      // The queue was full: a page has to read everything again.
      if ('missed' in line) {
        events.add({ type: 'reset' })
        continue
      }
      const { pid, call, args } = line
      const [text = ''] = args
      if (LOG_CALLS.has(call)) events.add({ type: 'log', pid, text: call === 'tool' ? `runs ${text}` : text })
      const [, step] = call === 'log' ? (STEP.exec(text) ?? []) : []
      if (step !== undefined) events.add({ type: 'step', pid, step: Number(step) })
      if (step !== undefined || STATE_CALLS.has(call)) await addProcess(web, pid)
    }
  } finally {
    detach()
  }
}

async function addProcess(web: WebContext, pid: number): Promise<void> {
  const status = web.agents.ps(true).find((each) => each.pid === pid)
  if (status === undefined) return
  try {
    web.events.add({ type: 'process', process: await toWebProcess(web, status) })
  } catch {
    // The store may be busy: a page that reads everything again gets the state, or the error.
    web.events.add({ type: 'reset' })
  }
}
