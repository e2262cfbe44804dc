import { describe, expect, it, onTestFinished } from 'vitest'
import { O_RDWR, sendDeviceRequest } from '../../kernel/index.ts'
import { MemoryFs, readText } from '../../vfs/index.ts'
import { type Clock, Crontab, type CrontabOptions, cronDevice } from './index.ts'

/** A clock that a test advances. It fires due timers and waits for their work to settle. */
class HandClock implements Clock {
  readonly #timers = new Map<object, { at: number; fire: () => void }>()
  longestWaitMs = 0
  #now: number

  constructor(now: string) {
    this.#now = Date.parse(now)
  }

  now(): Date {
    return new Date(this.#now)
  }

  after(ms: number, fire: () => void): () => void {
    const key = {}
    this.longestWaitMs = Math.max(this.longestWaitMs, ms)
    this.#timers.set(key, { at: this.#now + ms, fire })
    return () => void this.#timers.delete(key)
  }

  async to(time: string): Promise<void> {
    const end = Date.parse(time)
    for (;;) {
      const [due] = [...this.#timers].filter(([, { at }]) => at <= end).sort((a, b) => a[1].at - b[1].at)
      if (due === undefined) break
      const [key, { at, fire }] = due
      this.#timers.delete(key)
      this.#now = Math.max(this.#now, at)
      fire()
      await settled()
    }
    this.#now = end
  }

  /** Advances the time without firing timers. */
  sleepUntil(time: string): void {
    this.#now = Date.parse(time)
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

interface SceneOptions extends Partial<CrontabOptions> {
  readonly at?: string
}

async function scene({ at = '2026-01-05T00:00:00Z', ...options }: SceneOptions = {}) {
  const clock = options.clock ?? new HandClock(at)
  const fs = options.fs ?? new MemoryFs()
  const fired: string[] = []
  const crontab = new Crontab({
    fs,
    clock,
    spawn: async (intent) => void fired.push(`${clock.now().toISOString().slice(0, 16)} ${intent}`),
    ...options,
  })
  await crontab.start()
  onTestFinished(() => crontab.stop())
  const ctx = { pid: 0, caller: { kind: 'system' }, fs, signal: new AbortController().signal } as const
  const ask = async (op: string, args: object = {}) =>
    JSON.parse(await sendDeviceRequest(await cronDevice(crontab).open(`/${op}`, O_RDWR, ctx), args))
  return { clock: clock instanceof HandClock ? clock : new HandClock(at), fs, fired, crontab, ask }
}

describe('/dev/cron', () => {
  it('spawns a process each time a job is due, until the job is deleted', async () => {
    const { clock, fired, ask } = await scene()
    expect(await ask('cron_create', { schedule: '0 9 * * 1-5', intent: 'report' })).toMatchObject({
      id: '1',
      timezone: 'UTC',
      next_run: '2026-01-05T09:00:00.000Z',
      last_fired_at: null,
    })
    await clock.to('2026-01-06T12:00:00Z')
    expect(fired).toEqual(['2026-01-05T09:00 report', '2026-01-06T09:00 report'])
    // After a suspend a timer continues where it was, so the clock is read every hour.
    expect(clock.longestWaitMs).toBe(60 * 60 * 1000)
    expect(await ask('cron_list')).toMatchObject({
      jobs: [
        {
          id: '1',
          last_fired_at: '2026-01-06T09:00:00.000Z',
          next_run: '2026-01-07T09:00:00.000Z',
          running: 0,
        },
      ],
      faults: [],
    })
    expect(await ask('cron_delete', { id: 1 })).toEqual({ deleted: '1' })
    await clock.to('2026-01-12T12:00:00Z')
    expect(fired).toHaveLength(2)
    await expect(ask('cron_delete', { id: 1 })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('follows daylight saving in its time zone', async () => {
    const { clock, fired, ask } = await scene({ at: '2026-03-28T00:00:00Z' })
    await ask('cron_create', { schedule: '0 9 * * *', intent: 'x', timezone: 'Europe/Berlin' })
    await clock.to('2026-03-29T12:00:00Z')
    expect(fired).toEqual(['2026-03-28T08:00 x', '2026-03-29T07:00 x'])
  })

  it('fires several jobs that are due at the same moment', async () => {
    const { clock, fired, ask } = await scene()
    for (const intent of ['a', 'b']) await ask('cron_create', { schedule: '@hourly', intent })
    await clock.to('2026-01-05T01:30:00Z')
    expect(fired).toEqual(['2026-01-05T01:00 a', '2026-01-05T01:00 b'])
  })

  it('survives a restart, and makes up once for missed runs unless configured otherwise', async () => {
    const clock = new HandClock('2026-01-05T00:00:00Z')
    const before = await scene({ clock })
    await before.ask('cron_create', { schedule: '@hourly', intent: 'once' })
    await before.ask('cron_create', { schedule: '@hourly', intent: 'skip', missed: 'skip' })
    await clock.to('2026-01-05T01:30:00Z')
    before.crontab.stop()
    clock.sleepUntil('2026-01-05T05:30:00Z')
    const after = await scene({ clock, fs: before.fs })
    await settled()
    expect(after.fired).toEqual(['2026-01-05T05:30 once'])
    await clock.to('2026-01-05T06:00:00Z')
    expect(after.fired.slice(1)).toEqual(['2026-01-05T06:00 once', '2026-01-05T06:00 skip'])
    after.crontab.stop()
    const again = await scene({ clock, fs: before.fs })
    await settled()
    expect(again.fired).toEqual([])
    expect(before.fired).toHaveLength(2)
  })

  it('makes up for runs missed while the machine slept', async () => {
    const { clock, fired, ask } = await scene()
    await ask('cron_create', { schedule: '@hourly', intent: 'x' })
    clock.sleepUntil('2026-01-05T08:20:00Z')
    await clock.to('2026-01-05T09:10:00Z')
    expect(fired).toEqual(['2026-01-05T08:20 x', '2026-01-05T09:00 x'])
  })

  it('does not start a run while the previous one runs, unless overlap is allowed', async () => {
    const ends: (() => void)[] = []
    const begun: string[] = []
    const { clock, crontab, ask } = await scene({
      spawn: (intent) => {
        begun.push(intent)
        return new Promise((resolve) => ends.push(resolve))
      },
    })
    await ask('cron_create', { schedule: '@hourly', intent: 'alone' })
    await ask('cron_create', { schedule: '@hourly', intent: 'many', overlap: true })
    await clock.to('2026-01-05T02:30:00Z')
    expect(begun).toEqual(['alone', 'many', 'many'])
    expect(crontab.list().jobs).toMatchObject([
      { running: 1, skipped: 1 },
      { running: 2, skipped: 0 },
    ])
    for (const end of ends) end()
    await settled()
    await clock.to('2026-01-05T03:30:00Z')
    expect(begun.slice(3)).toEqual(['alone', 'many'])
  })

  it('records a run before it starts, and a process that cannot be spawned', async () => {
    const seen: string[] = []
    const { clock, fs, ask } = await scene({
      fs: new MemoryFs(),
      spawn: async (_intent, job) => {
        seen.push(job.last_fired_at ?? '')
        throw new Error('no such agent')
      },
    })
    await ask('cron_create', { schedule: '@hourly', intent: 'x', agent: 'nobody' })
    await clock.to('2026-01-05T01:00:00Z')
    expect(seen).toEqual(['2026-01-05T01:00:00.000Z'])
    expect(JSON.parse(await readText(fs, '/cron/1.json'))).toMatchObject({ last_error: 'no such agent' })
  })

  it('skips a run that it could not record, and continues', async () => {
    const { clock, fs, fired, ask, crontab } = await scene()
    await ask('cron_create', { schedule: '@hourly', intent: 'x' })
    const text = await readText(fs, '/cron/1.json')
    await fs.write('/cron/1.json', 'broken')
    await clock.to('2026-01-05T01:30:00Z')
    expect([fired, crontab.list().jobs[0]?.last_error]).toEqual([[], expect.stringContaining('repair it')])
    await fs.write('/cron/1.json', text)
    await clock.to('2026-01-05T02:30:00Z')
    expect(fired).toEqual(['2026-01-05T02:00 x'])
  })

  it('never fires a job whose file was removed', async () => {
    const { clock, fs, fired, ask, crontab } = await scene()
    await ask('cron_create', { schedule: '@hourly', intent: 'x' })
    await fs.remove('/cron/1.json')
    await clock.to('2026-01-05T03:00:00Z')
    expect([fired, crontab.list().jobs, await fs.exists('/cron/1.json')]).toEqual([[], [], false])
  })

  it('refuses invalid schedules and time zones, and jobs beyond the limit', async () => {
    const { ask } = await scene({ limit: 1 })
    for (const [args, problem] of [
      [{ schedule: 'daily', intent: 'x' }, 'five fields'],
      [{ schedule: '* * * * * *', intent: 'x' }, 'five fields'],
      [{ schedule: '2027-01-01T00:00:00', intent: 'x' }, 'five fields'],
      [
        { schedule: '61 * * * *', intent: 'x' },
        "the schedule '61 * * * *' is not valid: invalid value for minute: 61. A schedule has five fields: ",
      ],
      [{ schedule: '0 0 30 2 *', intent: 'x' }, 'never due'],
      [{ schedule: '@daily', intent: 'x', timezone: 'Mars/Base' }, 'no time zone "Mars/Base"'],
      [{ schedule: '@daily' }, "'intent' is missing"],
    ] as const) {
      await expect(ask('cron_create', args)).rejects.toMatchObject({
        code: 'EINVAL',
        message: expect.stringContaining(problem),
      })
    }
    await ask('cron_create', { schedule: '@daily', intent: 'x' })
    await expect(ask('cron_create', { schedule: '@daily', intent: 'x' })).rejects.toMatchObject({
      code: 'ENOSPC',
    })
  })

  it('reports a file it cannot read, and runs the other jobs', async () => {
    const first = await scene()
    await first.ask('cron_create', { schedule: '@daily', intent: 'x' })
    await first.fs.write('/cron/2.json', '{}')
    const edited = (await readText(first.fs, '/cron/1.json')).replace('@daily', '@someday')
    await first.fs.write('/cron/3.json', edited)
    const { ask } = await scene({ fs: first.fs })
    const { jobs, faults } = await ask('cron_list')
    expect([jobs.length, faults]).toEqual([
      1,
      [expect.stringContaining('/cron/2.json'), expect.stringContaining('@someday')],
    ])
  })
})
