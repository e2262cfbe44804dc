import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { createGroupTree, RUN_ID_VARIABLE } from './index.ts'

it.runIf(process.platform === 'linux')(
  'kills a process whose name looks like the state of a zombie',
  async () => {
    const runId = `test-${process.pid}`
    // Detached processes have groups of their own.
    const start = (program: string) => {
      const env = { ...process.env, [RUN_ID_VARIABLE]: runId }
      const child = spawn(process.execPath, ['-e', program], { env, detached: true })
      onTestFinished(() => void child.kill('SIGKILL'))
      return child
    }
    const idle = "process.stdout.write('ready'); setInterval(() => {}, 1000)"
    const [leader, other] = [start(idle), start(`process.title = ') Z\\n'; ${idle}`)]
    await Promise.all([leader, other].map(({ stdout }) => once(stdout, 'data')))
    const ended = once(other, 'exit')
    const tree = createGroupTree(leader.pid ?? 0, runId)
    expect(tree.pids()).toContain(other.pid)
    tree.kill()
    expect(await ended).toEqual([null, 'SIGKILL'])
  },
)
