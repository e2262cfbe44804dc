import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Benchmark, SubjectEntry } from './benchmark.ts'
import { isMessage, type Message } from './messages.ts'
import type { Progress } from './progress.ts'
import { Results } from './results.ts'

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))

/**
 * Round 1 of every subject, then round 2 of every subject, and so on: a machine that slows down slows all alike.
 * Each round of a subject is a fresh process, so neither leftovers nor one unlucky compilation last.
 */
export async function runRounds(
  { works }: Benchmark,
  subjects: readonly SubjectEntry[],
  rounds: number,
  progress: Progress,
): Promise<Results> {
  const results = new Results()
  const labels = new Map(works.map(({ id, label }) => [id, label]))
  for (let round = 1; round <= rounds; round++) {
    for (const subject of subjects) {
      const where = `round ${round} of ${rounds} · ${subject.name}`
      progress.show(`${where} · warming up`)
      await runOnce(subject, ({ work, secondsPerOperation }) => {
        if (secondsPerOperation === null) progress.show(`${where} · ${labels.get(work)}`)
        else results.add(subject.name, work, secondsPerOperation)
      })
    }
  }
  progress.clear()
  return results
}

async function runOnce(subject: SubjectEntry, onMessage: (message: Message) => void): Promise<void> {
  const child = fork(CHILD, [subject.module.href], { execArgv: ['--expose-gc', '--no-warnings'] })
  child.on('message', (message) => {
    if (isMessage(message)) onMessage(message)
  })
  // The last messages may still be on their way when the process is gone: the channel ends after them.
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  if (code !== 0)
    throw new Error(`${subject.name} failed (${signal ?? `exit code ${code}`}); its error is above`)
}
