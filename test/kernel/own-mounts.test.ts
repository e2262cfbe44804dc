import { expect, it } from 'vitest'
import { contextCaller } from '../../src/access/index.ts'
import { createJsonRequestFile, type Device, DeviceFs, O_RDWR } from '../../src/kernel/index.ts'
import { MemoryFs, MountTable } from '../../src/vfs/index.ts'
import { call, scene } from '../support/scripted-kernel.ts'

function server(name: string): Device {
  return {
    match: 'prefix',
    tools: [
      {
        name: `ask_${name}`,
        description: '',
        inputSchema: { type: 'object' },
        request: (body) => ({ subpath: '/tools/ask', body }),
      },
    ],
    open: (subpath) => createJsonRequestFile(`${name}${subpath}`, async () => `from ${name}`),
    list: async () => [{ name: 'tools', type: 'directory' }],
  }
}

it('a process sees its own and shared mounts, and none of another process', async () => {
  const offered: string[][] = []
  const received: string[] = []
  const answers = [
    call('ask_theirs', {}),
    call('/mnt/mcp/12-theirs/tools/ask', {}),
    call('ask_ours', {}),
    'done',
  ]
  const { kernel } = scene(({ tools, messages }) => {
    offered.push(tools.map(({ name }) => name))
    received.push(messages.at(-1)?.content ?? '')
    return answers.shift()
  })
  // A number with the same first digit is another process.
  for (const [path, name] of Object.entries({
    '/mnt/mcp/1-ours': 'ours',
    '/mnt/mcp/12-theirs': 'theirs',
    '/mnt/mcp/common': 'common',
  }))
    kernel.devices.register(path, server(name))
  await kernel.processes.wait(await kernel.processes.spawn('look'))
  expect(offered[0]).toEqual(expect.arrayContaining(['echo', 'ask_ours', 'ask_common']))
  expect(offered[0]).not.toContain('ask_theirs')
  expect(received[1]).toContain("there is no tool 'ask_theirs'")
  expect(received[2]).toContain('ENOENT')
  expect(received.join()).not.toContain('from theirs')
  expect(received[3]).toContain('from ours')
})

it('the files of a process show its own mounts, and those of a person all', async () => {
  const { kernel } = scene(() => 'done')
  for (const name of ['1-ours', '12-theirs', 'common'])
    kernel.devices.register(`/mnt/mcp/${name}`, server(name))
  const seenBy = (pid: number) => {
    const ctx = {
      pid,
      caller: contextCaller('anna'),
      fs: new MemoryFs(),
      signal: new AbortController().signal,
    }
    return new MountTable({
      '/': new MemoryFs(),
      '/mnt/mcp': new DeviceFs(kernel.devices, '/mnt/mcp', () => ctx),
    })
  }
  const names = async (pid: number) => Array.fromAsync(seenBy(pid).readdir('/mnt/mcp'), ({ name }) => name)
  expect(await names(1)).toEqual(['1-ours', 'common'])
  expect(await names(2)).toEqual(['common'])
  expect(await names(0)).toEqual(['1-ours', '12-theirs', 'common'])
  const missing = seenBy(1).stat('/mnt/mcp/12-theirs')
  await expect(missing).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(seenBy(1).stat('/mnt/mcp/12-theirs/tools')).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(seenBy(1).write('/mnt/mcp/12-theirs/tools/ask', '{}')).rejects.toMatchObject({
    code: 'ENOENT',
  })
  expect(await seenBy(1).stat('/mnt/mcp/1-ours')).toMatchObject({ type: 'directory' })
  const ctx = { pid: 2, caller: contextCaller('b'), fs: new MemoryFs(), signal: new AbortController().signal }
  await expect(kernel.devices.open('/mnt/mcp/1-ours', O_RDWR, ctx)).rejects.toThrow('there is no such device')
})
