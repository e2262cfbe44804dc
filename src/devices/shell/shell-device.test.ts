import { describe, expect, it } from 'vitest'
import {
  type DeviceContext,
  DeviceRegistry,
  O_RDWR,
  readAllText,
  sendDeviceRequest,
} from '../../kernel/index.ts'
import type { CommandReport, Workspace, WorkspaceCommand } from '../../tools/index.ts'
import { MemoryFs, ReadOnlyFs } from '../../vfs/index.ts'
import { shellDevice } from './index.ts'

const done: CommandReport = {
  exitCode: 0,
  isTimedOut: false,
  stdout: 'out\n',
  stderr: 'err\n',
  changes: [{ kind: 'added', path: '/a' }],
  leftOut: [],
  checkpoint: 'before-1',
  unmerged: null,
}

function shell(exec: Workspace['exec'], changed: Partial<DeviceContext> = {}) {
  const devices = new DeviceRegistry()
  const workspace = exec === undefined ? { path: '/workspace' } : { path: '/workspace', exec }
  devices.register('/dev/shell', shellDevice({ findWorkspace: () => workspace }))
  const ctx: DeviceContext = {
    pid: 7,
    caller: { kind: 'process', pid: 7, context: 'coder' },
    fs: new MemoryFs(),
    signal: new AbortController().signal,
    ...changed,
  }
  const open = () => devices.open('/dev/shell', O_RDWR, ctx)
  const ask = async (body: unknown): Promise<unknown> =>
    JSON.parse(await sendDeviceRequest(await open(), body))
  return { open, ask, ctx }
}

/** A boundary that records its calls. */
function recording(report: CommandReport = done) {
  const commands: WorkspaceCommand[] = []
  const exec = async (command: WorkspaceCommand) => {
    commands.push(command)
    return report
  }
  return { commands, exec }
}

describe('shellDevice', () => {
  it('runs a line in the workspace, for 30 seconds at most and without the network', async () => {
    const { commands, exec } = recording()
    const file = await shell(exec).open()
    await file.write(new TextEncoder().encode('ls -l'))
    expect(JSON.parse(await readAllText(file))).toEqual({
      exit_code: 0,
      timed_out: false,
      output: 'out\nerr\n',
      changes: done.changes,
      checkpoint: 'before-1',
      left_out: [],
      unmerged: null,
    })
    expect(commands).toEqual([{ command: { shell: 'ls -l' }, cwd: '/', timeoutMs: 30_000, network: false }])
  })

  it('marks the output of a command with network access as foreign', async () => {
    const response = await shell(recording({ ...done, isNetworked: true }).exec).ask('curl x.example')
    expect(response).toMatchObject({ origin: 'network', output: 'out\nerr\n' })
    expect(await shell(recording().exec).ask('ls')).not.toHaveProperty('origin')
  })

  it('accepts a directory, a time limit and a request for the network', async () => {
    const { commands, exec } = recording()
    await shell(exec).ask({ command: 'npm i', cwd: 'src', timeout_ms: 5, network: true })
    await shell(exec).ask({ command: 'ls', cwd: 'vfs:///workspace/lib' })
    expect(commands).toMatchObject([{ cwd: '/src', timeoutMs: 5, network: true }, { cwd: '/lib' }])
  })

  it('reads a brace group as a command, not as invalid JSON', async () => {
    const { commands, exec } = recording()
    const file = await shell(exec).open()
    await file.write(new TextEncoder().encode('{ echo a; echo b; }'))
    expect(commands).toMatchObject([{ command: { shell: '{ echo a; echo b; }' } }])
  })

  it('refuses a directory outside, an empty command and an unknown argument', async () => {
    const { ask } = shell(recording().exec)
    await expect(ask({ command: 'ls', cwd: '/etc' })).rejects.toThrow(/EINVAL.*in \/workspace/)
    await expect(ask({ command: ' ' })).rejects.toThrow(/'command': must not be empty/)
    await expect(ask({ command: 'ls', sudo: true })).rejects.toThrow(/no argument 'sudo'/)
  })

  it('ends a command with its process', async () => {
    const end = new AbortController()
    const { ask } = shell(
      (_command, { ctx: { signal } }) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason))
          end.abort(new Error('killed'))
        }),
      { signal: end.signal },
    )
    await expect(ask({ command: 'sleep 1000' })).rejects.toThrow('killed')
  })

  it('runs nothing for a caller who may not change the workspace', async () => {
    const { commands, exec } = recording()
    const fs = new ReadOnlyFs(new MemoryFs())
    await expect(shell(exec, { fs }).ask({ command: 'ls' })).rejects.toMatchObject({ code: 'EROFS' })
    expect(commands).toEqual([])
  })

  it('reports that commands are not available', async () => {
    await expect(shell(undefined).ask({ command: 'ls' })).rejects.toMatchObject({ code: 'ENOTSUP' })
  })

  it('keeps the beginning and the end of a long output', async () => {
    const stdout = `first ${'x'.repeat(100_000)} last`
    const answer = await shell(recording({ ...done, stdout, stderr: '' }).exec).ask({ command: 'cat big' })
    expect(answer).toMatchObject({
      output: expect.stringMatching(/^first x+\n… \(\d+ characters left out\)\nx+ last$/),
    })
  })
})
