import { describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/access/index.ts'
import {
  createJsonRequestFile,
  type Device,
  DeviceFs,
  DeviceRegistry,
  O_RDONLY,
  O_RDWR,
  SnapshotFile,
} from '../../src/kernel/index.ts'
import { MemoryFs, MountTable, readText, VfsError } from '../../src/vfs/index.ts'
import { scene, until } from '../support/scripted-kernel.ts'

const never = new AbortController().signal
const contextOf = () => ({ pid: 0, caller: SYSTEM, fs: new MemoryFs(), signal: never })

function answering(name: string, match: Device['match'] = 'exact'): Device {
  return {
    match,
    open: (subpath) => createJsonRequestFile(name, async (request) => ({ name, subpath, request })),
  }
}

const listed: Device = {
  match: 'prefix',
  list: async (subpath) => {
    if (subpath === '') return [{ name: '1', type: 'directory' }]
    if (subpath === '/1') return [{ name: 'status', type: 'file' }]
    throw new VfsError('ENOENT', `/proc${subpath}`)
  },
  open: (subpath) => new SnapshotFile(subpath, `status of ${subpath}`),
}

function registry(): DeviceRegistry {
  const devices = new DeviceRegistry()
  devices.register('/dev/llm/claude', answering('claude'))
  devices.register('/dev/fs', answering('fs', 'prefix'))
  devices.register('/dev/fs/deep', answering('deep', 'prefix'))
  devices.register('/dev/null', answering('null'))
  devices.register('/proc', listed)
  return devices
}

describe('the registry of devices', () => {
  it.each([
    ['/dev/fs', '/dev/fs', ''],
    ['/dev/fs/a/b', '/dev/fs', '/a/b'],
    ['/dev/fs/deep/a', '/dev/fs/deep', '/a'],
    ['/dev/fs/deeper', '/dev/fs', '/deeper'],
    ['/dev/null', '/dev/null', ''],
  ])('resolves %s to the longest prefix of whole segments', (path, root, subpath) => {
    expect(registry().resolve(path)).toMatchObject({ root, subpath })
  })

  it.each(['/dev/null/x', '/dev/fsx', '/dev', '/dev/llm', '/dev/llm/claude/x'])(
    'has no device at %s',
    (path) => {
      expect(() => registry().resolve(path)).toThrow('ENOENT')
    },
  )

  it('registers a path once, and can unregister it', () => {
    const devices = registry()
    expect(() => devices.register('/dev/null', answering('x'))).toThrow('EEXIST')
    devices.unregister('/dev/null')
    expect(() => devices.resolve('/dev/null')).toThrow('ENOENT')
    expect(() => devices.unregister('/dev/null')).toThrow('ENOENT')
  })
})

describe('devices in a namespace', () => {
  const devices = registry()
  const fs = new MountTable({
    '/': new MemoryFs(),
    '/dev': new DeviceFs(devices, '/dev', contextOf),
    '/proc': new DeviceFs(devices, '/proc', contextOf),
  })
  const names = async (path: string) =>
    (await Array.fromAsync(fs.readdir(path))).map(({ name, type }) => `${name} ${type}`)

  it('are listed', async () => {
    expect(await names('/dev')).toEqual(['fs directory', 'llm directory', 'null other'])
    expect(await names('/dev/llm')).toEqual(['claude other'])
    expect(await names('/proc')).toEqual(['1 directory'])
    expect(await names('/proc/1')).toEqual(['status file'])
    expect(await fs.stat('/dev/null')).toMatchObject({ type: 'other' })
    await expect(fs.stat('/proc/1/none')).rejects.toMatchObject({ code: 'ENOENT', path: '/proc/1/none' })
    await expect(fs.stat('/proc/2/status')).rejects.toMatchObject({ code: 'ENOENT', path: '/proc/2' })
    await expect(fs.stat('/dev/llm/x')).rejects.toMatchObject({
      path: '/dev/llm/x',
      message: expect.stringContaining('there is: /dev/llm/claude'),
    })
  })

  it('are read if they are files, and called if they are devices', async () => {
    expect(await readText(fs, '/proc/1/status')).toBe('status of /1/status')
    await expect(readText(fs, '/dev/null')).rejects.toMatchObject({ code: 'EINVAL' })
    await fs.write('/dev/null', '{}')
    await expect(fs.write('/dev/null', 'no JSON')).rejects.toMatchObject({ code: 'EINVAL' })
    await using handle = await new DeviceFs(devices, '/dev', contextOf).open('/fs/a', { write: true })
    await expect(handle.read(0, 10)).rejects.toMatchObject({ code: 'EINVAL' })
    await handle.write(0, new TextEncoder().encode('{"x":1}'))
    expect(new TextDecoder().decode(await handle.read(0, 1000))).toBe(
      '{"name":"fs","subpath":"/a","request":{"x":1}}',
    )
    expect(await handle.read(0, 10)).toHaveLength(0)
  })
})

describe('the open files of a process', () => {
  it('have numbers from 3 on that are never reused, and close once', async () => {
    const { kernel } = scene((_request, signal) => until(signal))
    const pid = await kernel.processes.spawn('open')
    const first = await kernel.files.open(pid, '/dev/echo/a', O_RDWR)
    await kernel.files.close(pid, first)
    expect([first, await kernel.files.open(pid, '/dev/echo/b', O_RDWR)]).toEqual([4, 5])
    await expect(kernel.files.close(pid, first)).rejects.toMatchObject({ code: 'EBADF' })
    await expect(kernel.files.read(pid, 99, 1)).rejects.toMatchObject({ code: 'EBADF' })
  })

  it('are granted devices, and files of its namespace', async () => {
    const { kernel } = scene((_request, signal) => until(signal))
    const agent = { name: 'a', systemPrompt: '', skills: [], allowedDevices: ['/dev/echo/in'], mcp: {} }
    const pid = await kernel.processes.spawn('open', { agent })
    await kernel.table.get(pid).spec.fs.write('/notes', 'hello')
    await kernel.files.open(pid, '/dev/echo/in/side', O_RDWR)
    await expect(kernel.files.open(pid, '/dev/echo/inside', O_RDWR)).rejects.toMatchObject({
      code: 'EACCES',
      message: expect.stringContaining('/dev/echo/in'),
    })
    const fd = await kernel.files.open(pid, '/notes', O_RDONLY)
    expect(new TextDecoder().decode(await kernel.files.read(pid, fd, 2))).toBe('he')
    expect(new TextDecoder().decode(await kernel.files.read(pid, fd, 99))).toBe('llo')
    await expect(kernel.files.write(pid, fd, new Uint8Array(1))).rejects.toMatchObject({ code: 'EBADF' })
  })
})
