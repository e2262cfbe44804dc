import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DaemonCli } from './daemon-cli.ts'

it('coppice cron uses the named time zone, or that of this machine', async () => {
  const cli = new DaemonCli()
  const add = ['cron', 'add', '0 9 * * *', 'good morning']
  expect(await cli.ok(...add, '--timezone', 'Europe/Berlin')).toMatch(
    /^job 1 is due \d{4}-\d\d-\d\d 09:00 Europe\/Berlin, on a fork of \/.*\/files\n$/,
  )
  const here = await cli.run(add, { env: { TZ: 'Asia/Tokyo' } })
  expect(here.stdout).toMatch(/^job 2 is due .* 09:00 Asia\/Tokyo, on a fork of /)
  expect(await cli.ok('cron', 'list')).toMatch(
    /^1 +0 9 \* \* \* +Europe\/Berlin +.* 09:00 +\/.*\/files +good morning\n2 +0 9 \* \* \* +Asia\/Tokyo +.* 09:00 +\/.*\/files +good morning\n$/,
  )
  const jobs = JSON.parse(await cli.ok('cron', 'list', '--json'))
  // Nine in Tokyo is midnight in UTC, in summer and in winter.
  expect(jobs).toMatchObject([
    { timezone: 'Europe/Berlin', next_run: expect.stringMatching(/T0[78]:00:00\.000Z$/) },
    { timezone: 'Asia/Tokyo', next_run: expect.stringMatching(/T00:00:00\.000Z$/) },
  ])
  for (const [args, problem] of [
    [[...add, '--timezone', 'Mars/Base'], 'there is no time zone "Mars/Base"; '],
    [['cron', 'add', '61 * * * *', 'x'], 'invalid value for minute: 61. A schedule has five fields: '],
    [['cron', 'add', '@daily', ' '], '<intent> is empty; '],
    [[...add, '--max-steps', '0'], '--max-steps takes a number of steps, 1 or more\n'],
  ] as const)
    expect(await cli.run(args), args.join(' ')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(problem),
    })
  expect(await cli.run([...add, '--provider', 'nosuch'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^coppice: there is no provider 'nosuch'; there are: .*claude.*\n$/),
  })
  expect(await cli.ok('cron', 'remove', '2')).toBe('removed job 2\n')
})

it('coppice cron remembers the project directory for its processes, unless a vault is named', async () => {
  const cli = new DaemonCli()
  execFileSync('git', ['init', '-q', cli.files])
  const directory = realpathSync(cli.files)
  await cli.ok('vault', 'create', 'other')
  expect(await cli.json('cron', 'add', '@daily', 'work', '--provider', 'claude')).toMatchObject({
    options: { vault: directory },
  })
  const named = await cli.json('cron', 'add', '@daily', 'work', '--on-vault', 'other')
  expect(named).toMatchObject({ options: { vault: 'other' } })
  const homeless = await cli.run(['cron', 'add', '@daily', 'work', '--json'], { env: { HOME: cli.files } })
  expect(JSON.parse(homeless.stdout).options).toEqual({})
})
