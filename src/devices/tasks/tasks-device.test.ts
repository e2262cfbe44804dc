import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../backends/vault/index.ts'
import { type Device, O_RDONLY, O_RDWR, readAllText, sendDeviceRequest } from '../../kernel/index.ts'
import { MemoryFs, readText } from '../../vfs/index.ts'
import { TaskFiles, tasksDevice } from './index.ts'

const ctx = {
  pid: 1,
  caller: { kind: 'system' },
  fs: new MemoryFs(),
  signal: new AbortController().signal,
} as const

async function ask(device: Device, op: string, args: object = {}) {
  const file = await device.open(`/${op}`, O_RDWR, ctx)
  return JSON.parse(await sendDeviceRequest(file, args))
}

function device(fs = new MemoryFs()): Device {
  return tasksDevice({ fs, now: () => new Date('2026-01-02T03:04:05Z') })
}

describe('/dev/tasks', () => {
  it('creates, changes and lists tasks with their open dependencies', async () => {
    const tasks = device()
    expect(await ask(tasks, 'task_create', { subject: 'Plan', description: 'all of it' })).toMatchObject({
      id: '1',
      status: 'pending',
      owner: null,
    })
    await ask(tasks, 'task_create', { subject: 'Code' })
    await ask(tasks, 'task_update', { id: 2, dependencies: [1] })
    await ask(tasks, 'task_update', { id: '1', status: 'in_progress', owner: 'anna' })
    expect((await ask(tasks, 'task_list')).tasks).toMatchObject([
      { id: '1', status: 'in_progress', owner: 'anna', blocked_by: [] },
      { id: '2', status: 'pending', dependencies: ['1'], blocked_by: ['1'] },
    ])
    await ask(tasks, 'task_update', { id: '1', status: 'completed' })
    expect((await ask(tasks, 'task_list', { status: 'pending' })).tasks).toMatchObject([
      { id: '2', blocked_by: [] },
    ])
  })

  it('accepts the operation as op of a request', async () => {
    const file = await device().open('', O_RDWR, ctx)
    expect(JSON.parse(await sendDeviceRequest(file, { op: 'task_create', subject: 'Plan' }))).toMatchObject({
      id: '1',
    })
    await expect(sendDeviceRequest(file, { op: 'task_destroy' })).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('task_create, task_update, task_list'),
    })
    await expect(sendDeviceRequest(file, { op: 'toString' })).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('stores each task in a readable file, there and below the device', async () => {
    const fs = new MemoryFs()
    const tasks = device(fs)
    await ask(tasks, 'task_create', { subject: 'Plan' })
    const text = await readText(fs, '/tasks/1.json')
    expect(JSON.parse(text)).toMatchObject({
      id: '1',
      subject: 'Plan',
      created_at: '2026-01-02T03:04:05.000Z',
    })
    expect(await readAllText(await tasks.open('/1', O_RDONLY, ctx))).toBe(text)
    expect((await tasks.list?.('', ctx))?.map(({ name }) => name)).toEqual([
      'task_create',
      'task_update',
      'task_list',
      '1',
    ])
    for (const subpath of ['/2', '/../1', '/x'])
      await expect(tasks.open(subpath, O_RDONLY, ctx)).rejects.toMatchObject({ code: 'ENOENT' })
    expect((await ask(device(fs), 'task_list')).tasks).toHaveLength(1)
  })

  it('lets a status advance one step at a time only', async () => {
    const statuses = ['pending', 'in_progress', 'completed'] as const
    for (const [at, from] of statuses.entries()) {
      for (const [to, status] of statuses.entries()) {
        const files = new TaskFiles(new MemoryFs(), '/tasks')
        await files.create('Plan', '')
        for (const step of statuses.slice(1, at + 1)) await files.update('1', { status: step })
        const updated = files.update('1', { status })
        if (to === at + 1) expect(await updated).toMatchObject({ status })
        else await expect(updated).rejects.toMatchObject({ code: to === at ? 'ECONFLICT' : 'EINVAL' })
        expect((await files.get('1')).status).toBe(to === at + 1 ? status : from)
      }
    }
  })

  it('refuses a dependency cycle and leaves the task unchanged', async () => {
    let now = 0
    const files = new TaskFiles(new MemoryFs(), '/tasks', () => new Date(++now))
    for (const subject of ['a', 'b', 'c']) await files.create(subject, '')
    const { updated_at } = await files.get('1')
    await files.update('2', { dependencies: ['1'] })
    await files.update('3', { dependencies: ['2'] })
    await expect(files.update('1', { dependencies: ['3'], status: 'in_progress' })).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('1 → 3 → 2 → 1'),
    })
    expect(await files.get('1')).toMatchObject({ dependencies: [], status: 'pending', updated_at })
    await expect(files.update('1', { dependencies: ['1'] })).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(files.update('1', { dependencies: ['9'] })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('never contains a cycle, whatever dependencies two processes add concurrently', async () => {
    const edge = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 }))
    await fc.assert(
      fc.asyncProperty(fc.array(edge, { maxLength: 10 }), async (edges) => {
        const fs = new MemoryFs()
        const two = [new TaskFiles(fs, '/tasks'), new TaskFiles(fs, '/tasks')] as const
        for (let id = 1; id <= 4; id++) await two[0].create(`task ${id}`, '')
        await Promise.allSettled(
          edges.map(([id, before], index) =>
            two[index % 2 === 0 ? 0 : 1].update(String(id), { dependencies: [String(before)] }),
          ),
        )
        const { tasks } = await two[0].list()
        const left = new Map(tasks.map(({ id, dependencies }) => [id, new Set(dependencies)]))
        for (let round = 0; round < 4; round++) {
          for (const [id, before] of left) {
            if (before.size > 0) continue
            left.delete(id)
            for (const other of left.values()) other.delete(id)
          }
        }
        expect([...left.keys()]).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it('loses no concurrent change', async () => {
    const fs = new MemoryFs()
    const [one, other] = [new TaskFiles(fs, '/tasks'), new TaskFiles(fs, '/tasks')]
    await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 ? one : other).create(`task ${at}`, '')))
    const { tasks } = await one.list()
    expect(new Set(tasks.map(({ subject }) => subject)).size).toBe(20)
    await Promise.all([one.update('20', { owner: 'anna' }), other.update('20', { dependencies: ['1', '2'] })])
    expect(await one.get('20')).toMatchObject({ owner: 'anna', dependencies: ['1', '2'] })
  })

  it('loses no concurrent change in a vault opened twice', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'coppice-tasks-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    await using one = await openHome({ path: directory })
    await using other = await openHome({ path: directory })
    await one.createVault('tasks')
    const [mine, theirs] = await Promise.all(
      [one, other].map(async (home) => new TaskFiles(await home.vault('tasks'), '/tasks')),
    )
    if (mine === undefined || theirs === undefined) throw new Error('two were opened')
    await Promise.all(
      Array.from({ length: 10 }, (_, at) => (at % 2 ? mine : theirs).create(`task ${at}`, '')),
    )
    await Promise.all([
      mine.update('10', { owner: 'anna' }),
      theirs.update('10', { dependencies: ['1', '2'] }),
    ])
    const { tasks } = await theirs.list()
    expect(new Set(tasks.map(({ subject }) => subject)).size).toBe(10)
    expect(tasks.at(-1)).toMatchObject({ id: '10', owner: 'anna', dependencies: ['1', '2'] })
  })

  it('gives a task to exactly one of several concurrent callers', async () => {
    const fs = new MemoryFs()
    const files = new TaskFiles(fs, '/tasks')
    await files.create('Plan', '')
    const takers = Array.from({ length: 8 }, (_, at) =>
      new TaskFiles(fs, '/tasks').update('1', { owner: `agent ${at}`, status: 'in_progress' }),
    )
    const ends = await Promise.allSettled(takers)
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('explains invalid arguments to a model', async () => {
    const tasks = device()
    for (const [op, args, problem] of [
      ['task_create', {}, "'subject' is missing. It takes {subject, description?}"],
      ['task_create', { subject: '' }, `'subject': must not be empty; given: "". It takes`],
      ['task_create', { subject: 'a', due: 1 }, "there is no argument 'due'"],
      ['task_update', { id: 'one' }, "'id'"],
      ['task_update', { id: 1, status: 'done' }, '"pending"|"in_progress"|"completed"'],
      ['task_update', { id: 7 }, 'see task_list'],
    ] as const) {
      await expect(ask(tasks, op, args)).rejects.toThrow(problem)
    }
  })

  it('lists readable tasks beside a malformed file', async () => {
    const fs = new MemoryFs()
    const tasks = device(fs)
    await ask(tasks, 'task_create', { subject: 'Plan' })
    await fs.write('/tasks/2.json', '{"id": ')
    await fs.write('/tasks/README.md', 'not a task')
    const { tasks: found, faults } = await ask(tasks, 'task_list')
    expect([found.length, faults]).toMatchObject([1, [{ file: '/tasks/2.json' }]])
    expect(await ask(tasks, 'task_create', { subject: 'Next' })).toMatchObject({ id: '3' })
  })
})
