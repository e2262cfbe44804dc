import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Benchmark, Part, Settings, SubjectEntry } from './benchmark.ts'
import { isMessage, type Message } from './messages.ts'
import type { Progress } from './progress.ts'
import { Results } from './results.ts'

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))

/** How often, with what settings, and what ends it early. */
export interface RoundsOptions {
  readonly rounds: number
  readonly settings: Settings
  readonly signal: AbortSignal
  readonly progress: Progress
}

/**
 * Round 1 of every subject, then round 2 of every subject, and so on: a machine that slows down slows all alike.
 * Each round of a part is a fresh process, so neither leftovers nor one unlucky compilation last.
 */
export async function runRounds(
  { works }: Benchmark,
  subjects: readonly SubjectEntry[],
  { rounds, settings, signal, progress }: RoundsOptions,
): Promise<Results> {
  const results = new Results()
  const labels = new Map(works.map(({ id, label }) => [id, label]))
  for (let round = 1; round <= rounds; round++) {
    for (const { name, part } of interleaved(subjects)) {
      const where = `round ${round} of ${rounds} · ${name} · ${part.name}`
      progress.show(`${where} · warming up`)
      await runOnce(part, name, settings, signal, (message) => {
        if (message.kind === 'progress')
          progress.show(`${where} · ${labels.get(message.text) ?? message.text}`)
        else if (message.kind === 'measured') results.add(name, message.work, message.value)
        else results.skip(name, message.work, message.reason)
      })
    }
  }
  progress.clear()
  return results
}

/** The same part of every subject, one after the other: what is compared runs close together. */
function interleaved(subjects: readonly SubjectEntry[]): { name: string; part: Part }[] {
  const names = new Set(subjects.flatMap(({ parts }) => parts.map((part) => part.name)))
  return [...names].flatMap((wanted) =>
    subjects.flatMap(({ name, parts }) =>
      parts.filter((part) => part.name === wanted).map((part) => ({ name, part })),
    ),
  )
}

async function runOnce(
  part: Part,
  subject: string,
  settings: Settings,
  signal: AbortSignal,
  onMessage: (message: Message) => void,
): Promise<void> {
  signal.throwIfAborted()
  const child = fork(CHILD, [part.module.href, JSON.stringify(settings)], {
    execArgv: ['--expose-gc', '--no-warnings'],
  })
  const stop = () => child.kill('SIGKILL')
  signal.addEventListener('abort', stop)
  child.on('message', (message) => {
    if (isMessage(message)) onMessage(message)
  })
  const [code, killedBy] = await ended(child)
  signal.removeEventListener('abort', stop)
  signal.throwIfAborted()
  if (code !== 0) {
    throw new Error(`${subject} failed (${killedBy ?? `exit code ${code}`}); its error is above`)
  }
}

/** The last messages may still be on their way when the process is gone: the channel ends after them. */
async function ended(child: ChildProcess): Promise<unknown[]> {
  const [exit] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  return exit
}
