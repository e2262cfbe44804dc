import { type Check, DoesNotApply, type Suite } from '../check.ts'
import { needTools } from '../debian-source.ts'
import type { Places } from '../places.ts'
import { execute, lastLines, succeed } from '../program.ts'

const SECONDS = 3
const MOST_MS = 120_000

/** Everything stress-ng counts as the work of a file system, with its results verified. */
export const stress: Suite = {
  name: 'stress',
  about: 'stress-ng --class filesystem --verify',
  async checks(places) {
    await needTools(['stress-ng', 'stress-ng'])
    const { output } = await execute(['stress-ng', '--class', 'filesystem?'])
    const names = output.split(':').at(-1)?.trim().split(/\s+/) ?? []
    return names.map((name) => stressor(places, name))
  },
}

function stressor(places: Places, name: string): Check {
  return {
    name,
    async run() {
      const { plain, mounted } = places.pair(name)
      const { status, output } = await attempt(name, mounted)
      if (status !== 0) {
        const control = await attempt(name, plain)
        if (control.status !== 0)
          throw new DoesNotApply(`not on the plain disk either: ${excuseIn(control.output)}`)
        throw new Error(`it ended with ${status}: ${lastLines(output)}`)
      }
      await succeed(['rm', '-rf', mounted])
    },
  }
}

function attempt(name: string, directory: string): ReturnType<typeof execute> {
  const times = ['--timeout', String(SECONDS), '--verify']
  return execute(['stress-ng', `--${name}`, '2', ...times, '--temp-path', directory], {
    cwd: directory,
    timeoutMs: MOST_MS,
  })
}

/** Why it was not run, where it says so. */
function excuseIn(output: string): string {
  return output.split('\n').find((line) => /skipping|disabled/.test(line)) ?? lastLines(output, 1)
}
