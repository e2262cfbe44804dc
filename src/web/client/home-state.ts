import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { WebEvent, WebProcess, WebStatus, WebTree, WebWaiting } from '../../web-api/index.ts'
import { call } from './api.ts'
import { followEvents } from './event-stream.ts'
import { publishEvent } from './live.ts'
import { readPages } from './pages.ts'
import { session } from './session.ts'

/** Processes and trees beyond this are not read: no person looks at more. */
const MAX_ITEMS = 5000
const REFRESH_MS = 200
const UPDATE_MS = 100
const RETRY_MS = 1000

export const status: Signal<WebStatus | undefined> = signal(undefined)
/** Processes by number. */
export const processes: Signal<ReadonlyMap<number, WebProcess>> = signal(new Map())
export const trees: Signal<readonly WebTree[]> = signal([])
export const waiting: Signal<WebWaiting> = signal({ approvals: [], questions: [], merges: [] })
/** False until everything has been read once. */
export const isLoaded: Signal<boolean> = signal(false)
export const loadError: Signal<Error | undefined> = signal(undefined)

/** Ends the event stream of an earlier start. */
let following = new AbortController()

/** Number of things that wait for a person. */
export const waitingCount: ReadonlySignal<number> = computed(
  () => waiting.value.approvals.length + waiting.value.questions.length + waiting.value.merges.length,
)

/** Reads the home and follows its events. If that fails, sets `loadError`; a person may then start it again. */
export async function startHome(): Promise<void> {
  loadError.value = undefined
  following.abort()
  following = new AbortController()
  try {
    const now = await call('getStatus', {})
    status.value = now
    void followEvents({ after: now.position, onEvent: takeEvent, signal: following.signal })
    // What the screen itself shows is asked for first.
    await waitForRender()
    await readAll()
    isLoaded.value = true
  } catch (error) {
    loadError.value = error instanceof Error ? error : new Error(String(error))
  }
}

/** Waits until changed signals are rendered. */
function waitForRender(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}

/** Reads everything again: at the beginning, and when events were missed. */
async function readAll(): Promise<void> {
  await Promise.all([readProcesses(), readTrees(), readWaiting()])
}

async function readProcesses(): Promise<void> {
  const found = await readPages((page) => call('listProcesses', { ...page, all: true }), {
    maxItems: MAX_ITEMS,
  })
  processes.value = new Map(found.map((process) => [process.pid, process]))
}

/** Reads the trees again soon. */
export function refreshTrees(): void {
  scheduleUpdate('trees', 0, readTrees)
}

/** Reads again soon what waits for a person. */
export function refreshWaiting(): void {
  scheduleUpdate('waiting', 0, readWaiting)
}

async function readTrees(): Promise<void> {
  trees.value = await readPages((page) => call('listTrees', page), { maxItems: MAX_ITEMS })
}

async function readWaiting(): Promise<void> {
  waiting.value = await call('listWaiting', {})
}

const changedProcesses = new Map<number, WebProcess>()
const scheduledUpdates = new Set<string>()

function takeEvent(event: WebEvent): void {
  publishEvent(event)
  if (event.type === 'process') {
    changedProcesses.set(event.process.pid, event.process)
    scheduleUpdate('processes', UPDATE_MS, updateProcesses)
  } else if (event.type === 'asked' || event.type === 'settled' || event.type === 'waiting') {
    scheduleUpdate('waiting', UPDATE_MS, readWaiting)
  } else if (event.type === 'trees' || event.type === 'journal') {
    scheduleUpdate('trees', REFRESH_MS, readTrees)
  } else if (event.type === 'reset') scheduleUpdate('all', 0, readAll)
}

/** Runs an update once for all events of some time. A failed one is tried again: no further event may follow it. */
function scheduleUpdate(name: string, delayMs: number, update: () => void | Promise<void>): void {
  if (scheduledUpdates.has(name)) return
  scheduledUpdates.add(name)
  setTimeout(() => {
    scheduledUpdates.delete(name)
    void runUpdate(name, update)
  }, delayMs)
}

async function runUpdate(name: string, update: () => void | Promise<void>): Promise<void> {
  try {
    await update()
  } catch {
    if (session.value.state === 'open') scheduleUpdate(name, RETRY_MS, update)
  }
}

function updateProcesses(): void {
  batch(() => {
    const next = new Map(processes.value)
    for (const [pid, process] of changedProcesses) next.set(pid, process)
    changedProcesses.clear()
    processes.value = next
  })
}
