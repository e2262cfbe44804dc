import { type ChildProcessWithoutNullStreams, execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { whyNoMount } from '../fuse/mounted-vault.ts'
import { DaemonCli } from './daemon-cli.ts'

const reason = whyNoMount()

/** The namespace of a context, mounted beside a daemon. */
class MountedNamespace extends DaemonCli {
  readonly place: string = join(this.scratch, 'place')

  static async create(...options: string[]): Promise<MountedNamespace> {
    const cli = new MountedNamespace()
    mkdirSync(cli.place)
    await cli.ok('vault', 'create', 'base')
    const server = cli.start(['mount', '/', cli.place, ...options])
    onTestFinished(() => ended(server))
    const [said] = await once(server.stdout, 'data')
    expect(String(said)).toContain('is mounted on')
    return cli
  }

  /** Runs a script in it and returns all output. */
  sh(script: string): Promise<string> {
    return new Promise((resolve) => {
      const args = ['-c', `cd "$0" && { ${script}; } 2>&1`, this.place]
      execFile('sh', args, { env: { ...process.env, LC_ALL: 'C' } }, (_error, stdout) => resolve(stdout))
    })
  }
}

async function ended(server: ChildProcessWithoutNullStreams): Promise<void> {
  if (server.exitCode !== null) return
  server.kill('SIGTERM')
  await once(server, 'exit')
}

describe.skipIf(reason !== undefined)(`coppice mount /, and the daemon${reason ? `: ${reason}` : ''}`, () => {
  it('shows processes and devices to cat, ls and a shell that calls them', async () => {
    const cli = await MountedNamespace.create()
    expect(await cli.sh('ls')).toMatch(/^dev\nhome\nmnt\nproc\nshared\n/)
    expect(await cli.json('daemon', 'status')).toEqual({ running: false })
    await cli.ok('spawn', 'be seen', '--script', cli.script({ say: 'late', delay_ms: 600_000 }))
    expect(JSON.parse(await cli.sh('cat proc/1/status'))).toMatchObject({ pid: 1, intent: 'be seen' })
    expect(await cli.sh('ls dev')).toMatch(/^children\ncron\nfs\nllm\nlsp\nmemory\nnull\nrandom\nshell\n/)
    const talk = `exec 3<>dev/tasks/task_create
      echo '{"subject": "one"}' >&3; cat <&3; echo; echo '{"subject": "two"}' >&3; cat <&3`
    const answers = (await cli.sh(talk)).split('\n').map((line) => JSON.parse(line))
    expect(answers).toMatchObject([
      { id: '1', subject: 'one' },
      { id: '2', subject: 'two' },
    ])
    expect(await cli.ok('tasks', 'list')).toMatch(/one.*two/s)
    expect(JSON.parse(await cli.sh('cat dev/tasks/2'))).toMatchObject({ subject: 'two' })
    expect(await cli.sh('env echo x > proc/1/status')).toContain('Read-only file system')
    expect(await cli.sh('cat proc/7/status')).toContain('No such file')
  })

  it('starts a daemon on first use, reconnects, and refuses requests on a read-only mount', async () => {
    const cli = await MountedNamespace.create('--read-only')
    expect(await cli.sh('cat proc/mounts')).toContain('/dev')
    await cli.ok('daemon', 'stop')
    expect(await cli.sh('cat proc/mounts')).toContain('/dev')
    expect(await cli.sh('env echo "{}" > dev/tasks/task_list')).toContain('Read-only file system')
  })
})
