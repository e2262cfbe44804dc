import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { DaemonCli } from '../cli/daemon-cli.ts'
import { whyNoProgram } from '../support/debian-programs.ts'
import { collectErrors, launchBrowser, waitForSession } from './browser.ts'
import { openCutProxy } from './cut-proxy.ts'
import { replaceText } from './replace-text.ts'

const TIMEOUT_MS = 20_000
const problem = whyNoProgram('chromium-headless-shell')
const call = (tool: string, input: unknown) => ({ say: { action: 'tool_call', tool, input } })
/** A file whose first, middle and last line are far enough apart to be three hunks. */
const text = (first: string, middle: string, last: string) => {
  const between = Array.from({ length: 12 }, (_, at) => `line ${at}\n`).join('')
  return `${first}\n${between}${middle}\n${between}${last}\n`
}

describe.skipIf(problem !== undefined)(`coppice ui${problem ? `: ${problem}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  /** Opens the address that `coppice ui` prints, by way of another origin if one is given. */
  async function open(
    cli: DaemonCli,
    args: readonly string[] = [],
    toOrigin?: (origin: string) => Promise<string>,
  ): Promise<Page> {
    const { link, origin } = JSON.parse(await cli.ok('ui', ...args, '--json'))
    const context = await browser.newContext()
    context.setDefaultTimeout(TIMEOUT_MS)
    const page = await context.newPage()
    const errors = collectErrors(page)
    onTestFinished(async () => {
      await context.close()
      expect(errors).toEqual([])
    })
    await page.goto(toOrigin === undefined ? link : link.replace(origin, await toOrigin(origin)))
    await waitForSession(page)
    return page
  }

  it('applies two of three hunks to the directory, and takes that back', async () => {
    const cli = new DaemonCli()
    const file = join(cli.files, 'cart.txt')
    const before = text('one', 'two', 'three')
    writeFileSync(file, before)
    await editFork(cli, 's/^one$/ONE/', 's/^two$/TWO/', 's/^three$/THREE/')
    const page = await open(cli, ['diff', 'fix'])
    await page.getByRole('checkbox', { name: 'Keep hunk 2' }).uncheck()
    await page.getByText('1 in part').waitFor()
    await page.getByRole('button', { name: 'Apply to' }).click()
    await page.getByText('Wrote 1 change to').waitFor()
    expect(readFileSync(file, 'utf8')).toBe(text('ONE', 'two', 'THREE'))
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('It was undone').waitFor()
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  it('resolves a conflict with my own edits in place', async () => {
    const cli = new DaemonCli()
    const file = join(cli.files, 'cart.txt')
    writeFileSync(file, text('one', 'two', 'three'))
    await editFork(cli, 's/^two$/theirs/')
    const mine = text('one', 'mine', 'three')
    writeFileSync(file, mine)
    const page = await open(cli, ['diff', 'fix'])
    await page.getByRole('button', { name: 'Apply to' }).click()
    await page.getByText('1 conflict to resolve').waitFor()
    expect(readFileSync(file, 'utf8')).toBe(mine)
    await replaceText(page, 'Your version of /cart.txt', text('one', 'both', 'three'))
    await page.getByRole('button', { name: 'Use this text' }).click()
    await page.getByRole('button', { name: 'Apply to' }).click()
    await page.getByText('Wrote 1 change to').waitFor()
    expect(readFileSync(file, 'utf8')).toBe(text('one', 'both', 'three'))
  })

  it('shows an agent at work, answers it, and misses nothing over a cut and a reload', async () => {
    const cli = new DaemonCli()
    writeFileSync(join(cli.files, 'a.txt'), 'one\n')
    const script = cli.script(
      call('/dev/fs/a.txt', { content: 'by the agent\n' }),
      call('ask_user', { questions: [{ question: 'Which colour?', options: ['red', 'green'] }] }),
      call('/dev/fs/b.txt', { content: 'after the answer\n' }),
      { say: 'Everything is done.' },
    )
    let cut = () => {}
    let restore = () => {}
    const page = await open(cli, [], async (origin) => {
      const proxy = await openCutProxy(origin)
      cut = proxy.cut
      restore = proxy.restore
      return proxy.origin
    })
    await page.getByText('No agent has worked here yet').waitFor()
    await cli.ok('spawn', 'paint the shed', '--script', script)
    await page.getByRole('link', { name: 'paint the shed' }).first().click()
    await page.getByText('Which colour?').waitFor()
    await page.getByRole('button', { name: 'Step 1' }).waitFor()
    await page.getByLabel('green').check()
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.getByText('Everything is done.').first().waitFor()
    await page.getByRole('button', { name: 'Step 3' }).click()
    await page.getByRole('complementary', { name: 'Files of step 3' }).getByText('/b.txt').waitFor()
    await page.getByRole('cell', { name: 'added: after the answer' }).waitFor()
    cut()
    await page.getByText('Connection lost, reconnecting').waitFor()
    await cli.ok('spawn', 'while nobody looked', '--script', cli.script({ say: 'Done.' }), '--follow')
    restore()
    await page.getByText('Connection lost').waitFor({ state: 'detached' })
    await page.goto(new URL('/', page.url()).href)
    await page.getByText('while nobody looked').waitFor()
    await page.getByText('Everything is done.').waitFor()
  })

  it('pauses, resumes, forks and ends a process', async () => {
    const cli = new DaemonCli()
    writeFileSync(join(cli.files, 'a.txt'), 'one\n')
    const slow = { say: 'late', delay_ms: 600_000 }
    await cli.ok(
      'spawn',
      'take long',
      '--script',
      cli.script(call('/dev/fs/a.txt', { content: 'two\n' }), slow),
    )
    const page = await open(cli)
    await page.getByRole('link', { name: 'take long' }).click()
    await page.getByRole('button', { name: 'Step 1' }).click()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'Raw' }).click()
    await page.getByText('"step_number": 1').waitFor()
    await page.getByRole('button', { name: 'Fork here' }).click()
    await page.getByPlaceholder('try it another way').fill('take another way')
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('heading', { name: '2 take another way' }).waitFor()
    await page.getByRole('button', { name: 'Kill' }).click()
    await page.getByRole('button', { name: 'Kill' }).click()
    await page.getByText('failed', { exact: true }).waitFor()
    const states = JSON.parse(await cli.ok('ps', '--all', '--json')).map(
      ({ state }: { state: string }) => state,
    )
    expect(states).toHaveLength(2)
    await page.goto(new URL('/process?pid=1', page.url()).href)
    await page.getByRole('button', { name: 'Pause' }).waitFor()
  })

  it('merges a fork of a vault, undoes that, finds a text and reverts a file', async () => {
    const cli = new DaemonCli()
    await cli.ok('vault', 'create', 'base')
    for (const content of ['old words', 'new words'])
      await cli.ok('write', '/notes.txt', '--vault', 'base', '--text', content)
    await cli.ok('fork', 'base', 'task-1')
    await cli.ok('write', '/notes.txt', '--vault', 'task-1', '--text', 'forked words')
    const page = await open(cli, ['diff', 'task-1'])
    const read = () => cli.ok('cat', '/notes.txt', '--vault', 'base')
    await page.getByRole('button', { name: 'Merge into' }).click()
    await page.getByText('Merged 1 change into base').waitFor()
    expect(await read()).toBe('forked words\n')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('It was undone').waitFor()
    expect(await read()).toBe('new words\n')
    await page.goto(new URL('/files?tree=vault%3Abase&search=words', page.url()).href)
    await page.getByRole('button', { name: '/notes.txt:1' }).click()
    await page.getByRole('button', { name: 'Versions' }).click()
    const oldest = page.getByRole('listitem').filter({ hasText: 'what a revert changes' }).last()
    await oldest.getByRole('button', { name: 'Revert' }).click()
    await oldest.getByRole('button', { name: 'Revert' }).click()
    await page.getByRole('button', { name: 'Content', exact: true }).click()
    await page.getByText('old words').waitFor()
    expect(await read()).toBe('old words\n')
  })

  it('shows what a waiting command would change, then denies and approves', async () => {
    const cli = new DaemonCli()
    writeFileSync(join(cli.files, 'a.txt'), 'one\n')
    const page = await open(cli)
    await page.getByText('No agent has worked here yet').waitFor()
    const shell = 'echo made > made.txt; curl -s https://example.invalid'
    expect((await cli.run(['exec', '--shell', '--', shell])).code).not.toBe(0)
    expect((await cli.run(['exec', '--', 'git', 'push'])).code).not.toBe(0)
    await page.getByRole('link', { name: 'echo made' }).click()
    await page.getByRole('button', { name: 'Try it in a throw-away fork' }).click()
    await page.getByRole('cell', { name: 'added: made' }).waitFor()
    await page.keyboard.press('d')
    await page.keyboard.press('d')
    await page.getByText('This command was denied').waitFor()
    await page.getByRole('link', { name: 'git push' }).first().click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('This command was approved').waitFor()
    await page.getByText('nothing waits').waitFor()
  })

  it('goes back in time, and shows who wrote each line', async () => {
    const cli = new DaemonCli()
    await cli.ok('vault', 'create', 'base')
    for (const content of ['first', 'first\nsecond', 'first\nsecond\nthird'])
      await cli.ok('write', '/notes.txt', '--vault', 'base', '--text', content)
    await cli.ok('checkpoint', 'save', 'kept', '--vault', 'base')
    const hostile = '/<img src=x onerror=alert(1)>\u202ecod.txt'
    await cli.ok('write', hostile, '--vault', 'base', '--text', '<script>alert(1)</script>\u0007\n')
    const page = await open(cli)
    await page.goto(new URL('/files?tree=vault%3Abase&path=%2Fnotes.txt', page.url()).href)
    const content = page.getByRole('list', { name: 'Content of /notes.txt' })
    await content.getByText('third').waitFor()
    await cli.ok('write', '/notes.txt', '--vault', 'base', '--text', 'first\nsecond\nthird\nlive')
    await content.getByText('live').waitFor()
    await page.keyboard.press('[')
    await page.keyboard.press('[')
    await page.keyboard.press('[')
    await content.getByText('third').waitFor({ state: 'detached' })
    await content.getByText('second').waitFor()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.getByRole('button', { name: 'Blame' }).click()
    await page.getByRole('list', { name: 'Authors of /notes.txt' }).getByText('tester').first().waitFor()
    await page.getByRole('button', { name: '<img src=x' }).click()
    await page.getByRole('button', { name: 'Content', exact: true }).click()
    await page.getByText('<script>alert(1)</script>').waitFor()
    await page.getByTitle('U+202E right-to-left override').first().waitFor()
    await page.getByTitle('U+0007').waitFor()
    await page.getByLabel('Checkpoint').selectOption('@kept')
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('button', { name: 'Restore' }).click()
    const files = page.getByRole('list', { name: 'Files' })
    await files.getByText('<img src=x').waitFor({ state: 'detached' })
    expect(await cli.ok('ls', '/', '--vault', 'base')).not.toContain('img')
  })
})

/** Edits `cart.txt` in the fork `fix` of the directory. */
async function editFork(cli: DaemonCli, ...edits: readonly string[]): Promise<void> {
  const sed = ['sed', '-i', ...edits.flatMap((edit) => ['-e', edit]), 'cart.txt']
  expect(await cli.run(['exec', '--fork', 'fix', '--', ...sed])).toMatchObject({ code: 0 })
}
