import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { guard, SYSTEM, zonePolicy } from '../../src/access/index.ts'
import {
  createJsonRequestFile,
  type Device,
  DeviceFs,
  DeviceRegistry,
  RequestFile,
  SnapshotFile,
} from '../../src/kernel/index.ts'
import { type FileSystem, MemoryFs, MountTable } from '../../src/vfs/index.ts'
import { whyNoMount } from './mounted-vault.ts'
import { MountedFiles } from './namespace-mount.ts'

/** Machines are slow at times. */
const patience = { timeout: 30_000 }

const reason = whyNoMount()

/** Answers with what it was asked, in capitals; how often it was asked, and whether it was closed. */
class Witnessed implements Device {
  readonly match = 'exact'
  readonly asked: string[] = []
  closed = 0

  open(): RequestFile {
    const file = new RequestFile('/dev/echo', async (bytes) => {
      const text = Buffer.from(bytes).toString()
      this.asked.push(text)
      if (text.startsWith('wait')) await new Promise(() => {})
      return text.toUpperCase()
    })
    const close = file.close.bind(file)
    file.close = () => {
      this.closed++
      return close()
    }
    return file
  }
}

function namespace(echo: Device = new Witnessed()): FileSystem {
  const devices = new DeviceRegistry()
  devices.register('/dev/echo', echo)
  devices.register('/dev/json', {
    match: 'exact',
    open: () => createJsonRequestFile('/dev/json', async (it) => it),
  })
  devices.register('/proc/status', { match: 'exact', open: () => new SnapshotFile('/proc/status', 'well\n') })
  const context = () => ({
    pid: 0,
    caller: SYSTEM,
    fs: new MemoryFs(),
    signal: new AbortController().signal,
  })
  const table = new MountTable({ '/': new MemoryFs({ '/shared/f': 'a file' }) })
  for (const root of ['/dev', '/proc']) table.mount(root, new DeviceFs(devices, root, context))
  return table
}

describe.skipIf(reason !== undefined)(`devices, mounted${reason ? `: ${reason}` : ''}`, () => {
  it('are asked and answer on one open file, as often as that goes on', async () => {
    await using mounted = await MountedFiles.create(namespace())
    const script = `exec 3<>dev/echo
      echo one >&3; cat <&3; echo two >&3; cat <&3; cat <&3
      echo three >&3; read -r line <&3; echo "line: $line"
      head -c 1000000 /dev/zero | tr '\\0' x > shared/big; dd if=shared/big bs=1M status=none >&3; cat <&3 | wc -c`
    expect((await mounted.sh(script)).out).toBe('ONE\nTWO\nline: THREE\n1000000\n')
  })

  it('hold a separate conversation with each open file', async () => {
    await using mounted = await MountedFiles.create(namespace())
    const script = 'exec 3<>dev/echo 4<>dev/echo; echo one >&3; echo two >&4; cat <&3; cat <&4; cat <&3'
    expect((await mounted.sh(script)).out).toBe('ONE\nTWO\n')
  })

  it('are asked once by a shell that does not want the answer, and can be read if they are no questions', async () => {
    const echo = new Witnessed()
    await using mounted = await MountedFiles.create(namespace(echo))
    expect(await mounted.sh('echo x > dev/echo; echo y >> dev/echo; cat proc/status; ls dev proc')).toEqual({
      code: 0,
      out: 'well\ndev:\necho\njson\n\nproc:\nstatus\n',
    })
    expect(echo.asked).toEqual(['x\n', 'y\n'])
  })

  it('refuse at the write what is no request, and what can only be read', async () => {
    await using mounted = await MountedFiles.create(namespace())
    expect((await mounted.sh('env echo "{" > dev/json')).out).toContain('Invalid argument')
    expect((await mounted.sh('cat dev/json')).out).toContain('Invalid argument')
    expect((await mounted.sh('env echo x > proc/status')).out).toContain('Read-only file system')
    expect((await mounted.sh(': > dev/none')).code).not.toBe(0)
    expect((await mounted.sh('cat shared/f; echo more >> shared/f; cat shared/f')).out).toBe(
      'a filea filemore\n',
    )
  })

  it('open only for callers with write permission', async () => {
    const echo = new Witnessed()
    const policies = [zonePolicy([{ root: '/dev', writers: ['me'] }])]
    for (const [context, heard] of [
      ['me', 'X\n'],
      ['you', 'Permission denied'],
    ] as const) {
      const ctx = { caller: { kind: 'context', context } } as const
      await using mounted = await MountedFiles.create(guard(namespace(echo), policies), { ctx })
      expect((await mounted.sh('exec 3<>dev/echo; echo x >&3; cat <&3')).out).toContain(heard)
    }
    expect(echo.asked).toEqual(['x\n'])
  })

  it('are released when a waiting program is killed, and the mount answers others meanwhile', async () => {
    const echo = new Witnessed()
    await using mounted = await MountedFiles.create(namespace(echo), { interruptAfterMs: 0 })
    const waiting = mounted.start('sh', '-c', 'echo wait > dev/echo')
    await expect.poll(() => echo.asked, patience).toEqual(['wait\n'])
    expect((await mounted.sh('cat proc/status')).out).toBe('well\n')
    waiting.kill('SIGKILL')
    await once(waiting, 'exit')
    await expect.poll(() => echo.closed, patience).toBe(1)
  })
})
