import { homedir } from 'node:os'
import { join } from 'node:path'
import { defaultLimits } from '../../../src/workspace/isolation/index.ts'
import { openSession } from '../../../src/workspace/session/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measurePrograms } from '../programs.ts'
import { prepareProjects } from '../projects.ts'

/** Isolated as a command of `coppice exec` is. All programs run in one session: what they made before is there. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const projects = prepareProjects('coppice', settings)
  const base = { lower: projects, staged: [] }
  await using session = await openSession('overlay', base, {
    directory: join(settings.directory, 'sessions'),
  })
  const env = { PATH: process.env['PATH'] ?? '', HOME: homedir() }
  const isolation = { level: 'auto', network: false, userHome: homedir() } as const
  const run = async (directory: string, script: string) => {
    const { stdout } = await session.run({
      command: { shell: script },
      cwd: directory.slice(projects.length),
      env,
      isolation,
      limits: defaultLimits,
      timeoutMs: 0,
    })
    return Buffer.from(stdout).toString()
  }
  await measurePrograms(run, projects, recorder)
}
