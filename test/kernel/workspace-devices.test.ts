import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { fsDevice } from '../../src/devices/fs/index.ts'
import { shellDevice } from '../../src/devices/shell/index.ts'
import { Kernel, O_RDONLY, O_RDWR, type Process } from '../../src/kernel/index.ts'
import { openNamespace } from '../../src/namespace/index.ts'

/** A kernel whose processes work in one vault, with commands run through the boundary. */
async function kernelOnVault() {
  const home = mkdtempSync(join(tmpdir(), 'coppice-devices-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const store = await openHome({ path: home })
  await store.createVault('project')
  await store.close()
  const commands = { env: { PATH: process.env['PATH'] ?? '' } }
  const namespace = await openNamespace({ home, context: 'anna', vault: 'project', commands })
  onTestFinished(() => namespace.close())
  const kernel = new Kernel({
    createEnvironment: async (pid) => ({
      fs: namespace.fs,
      caller: { kind: 'process', pid, context: 'anna' },
      close: async () => {},
    }),
  })
  onTestFinished(() => kernel.shutdown())
  kernel.devices.register('/dev/fs', fsDevice())
  kernel.devices.register('/dev/shell', shellDevice({ findWorkspace: () => namespace.workspace }))
  return kernel
}

/** What a process reads of a file, after it wrote to it if there is something to write. */
async function exchange({ files }: Kernel, { pid }: Process, path: string, body?: string): Promise<string> {
  const fd = await files.open(pid, path, body === undefined ? O_RDONLY : O_RDWR)
  if (body !== undefined) await files.write(pid, fd, Buffer.from(body))
  const text = Buffer.from(await files.read(pid, fd, 1 << 20)).toString()
  await files.close(pid, fd)
  return text
}

async function running(kernel: Kernel, work: (process: Process) => Promise<string>): Promise<number> {
  return kernel.processes.spawn('work', {
    program: async (process) => {
      process.result = await work(process)
      return { code: 0, reason: '' }
    },
  })
}

function isRunning(command: string): boolean {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(command)
}

describe('the devices of a workspace', () => {
  it('let a process write a file, run a command on it, and read the result', async () => {
    const kernel = await kernelOnVault()
    const pid = await running(kernel, async (process) => {
      await exchange(kernel, process, '/dev/fs/in.txt', '{"content": "b\\na\\n"}')
      const report = await exchange(kernel, process, '/dev/shell', 'sort in.txt > out.txt && echo sorted')
      expect(JSON.parse(report)).toMatchObject({
        exit_code: 0,
        output: 'sorted\n',
        changes: [{ kind: 'added', path: '/workspace/out.txt' }],
      })
      return exchange(kernel, process, '/dev/fs/out.txt')
    })
    const process = kernel.table.get(pid)
    expect(await kernel.processes.wait(pid)).toMatchObject({ code: 0 })
    expect(process.result).toBe('a\nb\n')
  })

  it('end a command with all its processes when the process is killed', async () => {
    const kernel = await kernelOnVault()
    const command = `sleep 86${process.pid}`
    const pid = await running(kernel, (running) =>
      exchange(kernel, running, '/dev/shell', `setsid ${command} & wait`),
    )
    await expect.poll(() => isRunning(command), { timeout: 60_000 }).toBe(true)
    kernel.processes.kill(pid, 'SIGKILL')
    expect(await kernel.processes.wait(pid)).toMatchObject({ code: 1 })
    await expect.poll(() => isRunning(command)).toBe(false)
  })
})
