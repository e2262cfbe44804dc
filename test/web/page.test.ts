import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type FileSelection, MAX_PAGE_ITEMS, type WebMethods } from '../../src/web-api/index.ts'
import { whyNoProgram } from '../support/debian-programs.ts'
import { findViolations } from './axe.ts'
import { collectErrors, launchBrowser, waitForSession } from './browser.ts'
import { openCutProxy } from './cut-proxy.ts'
import {
  agent,
  createApproval,
  createChange,
  createDiff,
  createHunk,
  createProcess,
  createStep,
  createText,
  createTree,
  PIXEL,
  person,
} from './fixture-data.ts'
import { type FixtureMethods, type FixtureServer, serveFixture } from './fixture-server.ts'
import { replaceText } from './replace-text.ts'

/** Longest wait for anything on the page. */
const TIMEOUT_MS = 10_000
const problem = whyNoProgram('chromium-headless-shell')
const TIME = '2026-11-17T10:00:00.000Z'
const shop = 'directory:/home/me/shop'
const comparison = '/compare?from=fork%3Ashop-1%5E&to=fork%3Ashop-1'
const HOSTILE = '<img src=x onerror=alert(1)>\u202e{{evil}}\u0000\u001b[31m'
const list = <Item>(items: readonly Item[]) => ({ items, next: null })
const trees: FixtureMethods = {
  listTrees: () => list([createTree(shop), createTree('fork:shop-1', { parent: shop, changes: 3 })]),
}
const cart = createChange('/src/cart.ts')
const threeHunks = [
  createHunk(0, 1, '-one', '+ONE'),
  createHunk(1, 20, '-two', '+TWO'),
  createHunk(2, 40, '-three', '+THREE'),
]

describe.skipIf(problem !== undefined)(`the page in a browser${problem ? `: ${problem}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  /** Serves a home and opens its page, which must report no error until the test ends. */
  async function open(
    methods: FixtureMethods,
    path = '/',
    options: BrowserContextOptions = {},
  ): Promise<{ page: Page; fixture: FixtureServer }> {
    const fixture = await serveFixture(methods)
    const { page } = await openTab(options)
    onTestFinished(() => fixture.server.close())
    await page.goto(fixture.server.createLink(path))
    await waitForSession(page)
    return { page, fixture }
  }

  async function openTab(options: BrowserContextOptions = {}): Promise<{ page: Page }> {
    const context = await browser.newContext(options)
    context.setDefaultTimeout(TIMEOUT_MS)
    const page = await context.newPage()
    const errors = collectErrors(page)
    onTestFinished(async () => {
      await context.close()
      expect(errors).toEqual([])
    })
    return { page }
  }

  it('trades its code once, and keeps its session over a reload but not in another tab', async () => {
    const { page, fixture } = await open({})
    await page.getByText('No agent has worked here yet').waitFor()
    expect(new URL(page.url()).hash).toBe('')
    await page.reload()
    await page.getByText('No agent has worked here yet').waitFor()
    const other = await page.context().newPage()
    await other.goto(fixture.server.origin)
    await other.getByText('This tab is not signed in').waitFor()
  })

  it('names the way back in for a used code', async () => {
    const fixture = await serveFixture({})
    onTestFinished(() => fixture.server.close())
    const link = fixture.server.createLink()
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    for (const title of ['No agent has worked here yet', 'This link was used already']) {
      const page = await context.newPage()
      await page.goto(link)
      await page.getByText(title).waitFor()
    }
  })

  it('shows an agent at work, step by step, without a reload', async () => {
    const process = createProcess(2, { intent: 'fix the failing test' })
    const steps = [createStep(1, { response: createText('I run the tests first.') })]
    const { page, fixture } = await open(
      {
        ...trees,
        listProcesses: () => list([process]),
        listSteps: ({ cursor }) => list(steps.filter(({ step }) => step > Number(cursor ?? 0))),
        listStepFiles: () => ({ ...list([cart]), from: 'fork:shop-1^', to: 'fork:shop-1' }),
        getFileDiff: () => createDiff(cart, threeHunks),
      },
      '/process?pid=2',
    )
    await page.getByText('I run the tests first.').waitFor()
    const calls = [
      { tool: '/dev/shell', input: createText('npm test'), result: createText('1 failing'), error: '' },
    ]
    steps.push(createStep(2, { response: createText('Now I repair it.'), calls }))
    fixture.publish({ type: 'step', pid: 2, step: 2 })
    fixture.publish({ type: 'log', pid: 2, text: 'writes /src/cart.ts' })
    await page.getByText('Now I repair it.').waitFor()
    await page.getByText('writes /src/cart.ts').waitFor()
    expect(await page.getByText('1 failing').isVisible()).toBe(false)
    await page.getByText('npm test').first().click()
    await page.getByText('1 failing').waitFor()
    await page.getByRole('complementary', { name: 'Files of step 2' }).getByText('/src/cart.ts').waitFor()
    fixture.publish({
      type: 'process',
      process: { ...process, state: 'ended', exitCode: 0, result: 'It is repaired.' },
    })
    await page.getByText('It is repaired.').waitFor()
    await page.getByText('done', { exact: true }).waitFor()
  })

  it('says that the connection is lost, and then misses nothing', async () => {
    const fixture = await serveFixture({ ...trees, listProcesses: () => list([createProcess(1)]) })
    onTestFinished(() => fixture.server.close())
    const proxy = await openCutProxy(fixture.server.origin)
    const { page } = await openTab()
    await page.goto(fixture.server.createLink().replace(fixture.server.origin, proxy.origin))
    await page.getByText('task 1').waitFor()
    await expect.poll(() => fixture.server.streams).toBe(1)
    proxy.cut()
    await page.getByText('Connection lost, reconnecting').waitFor()
    fixture.publish({ type: 'process', process: createProcess(2, { intent: 'started meanwhile' }) })
    fixture.publish({
      type: 'process',
      process: createProcess(1, { state: 'ended', exitCode: 0, intent: 'ended meanwhile' }),
    })
    proxy.restore()
    await page.getByText('started meanwhile').waitFor()
    await page.getByText('ended meanwhile').waitFor()
    await page.getByText('Connection lost').waitFor({ state: 'detached' })
    const reads = fixture.calls.filter(({ name }) => name === 'listProcesses')
    expect(reads, 'the events alone bring the page up to date').toHaveLength(1)
  })

  it('reads everything again when the server no longer knows the missed events', async () => {
    const { page, fixture } = await open({ listProcesses: () => list([createProcess(1)]) })
    await page.getByText('task 1').waitFor()
    fixture.answer({ listProcesses: () => list([createProcess(7, { intent: 'came after a reset' })]) })
    fixture.publish({ type: 'reset' })
    await page.getByText('came after a reset').waitFor()
    await page.getByText('task 1').waitFor({ state: 'detached' })
  })

  it('merges two of three hunks, and sends exactly those', async () => {
    const { page, fixture } = await open(
      {
        ...trees,
        listChanges: () => list([cart, createChange('/README.md')]),
        getFileDiff: () => createDiff(cart, threeHunks),
        merge: () => ({ isMerged: true, changes: 1 }),
        undoMerge: () => ({ changes: 1 }),
      },
      comparison,
    )
    await page.getByRole('checkbox', { name: 'Keep hunk 2' }).uncheck()
    await page.getByRole('checkbox', { name: 'Keep /README.md' }).uncheck()
    await page.getByText('1 file kept').waitFor()
    // One press of a guarded key does nothing.
    await page.keyboard.press('a')
    await page.getByText('again: apply what is kept').waitFor()
    await page.keyboard.press('a')
    await page.getByText('Wrote 1 change to /home/me/shop').waitFor()
    // Nothing is left to merge, but the way back stays.
    fixture.answer({ listChanges: () => list([]) })
    fixture.publish({ type: 'journal', tree: 'fork:shop-1', since: 12, seq: 13, rows: [] })
    await page.getByText('Nothing differs').waitFor()
    const selection: FileSelection[] = [{ path: '/src/cart.ts', hunks: [0, 2], digest: 'd1' }]
    const merges = fixture.calls.filter(({ name }) => name === 'merge')
    expect(merges.map(({ params }) => params)).toEqual([
      { source: 'fork:shop-1', into: shop, selection, resolutions: [] },
    ])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('It was undone').waitFor()
    expect(fixture.calls.at(-1)?.name).not.toBe('merge')
  })

  it('resolves a conflict in place before it writes anything', async () => {
    const conflict = {
      path: '/src/cart.ts',
      reason: 'both changed line 2',
      canChoose: true,
      hasText: true,
      isResolved: false,
    }
    const { page, fixture } = await open(
      {
        ...trees,
        listChanges: () => list([cart]),
        getFileDiff: () => createDiff(cart, threeHunks),
        merge: ({ resolutions = [] }) =>
          resolutions.length === 0
            ? { isMerged: false, conflicts: [conflict] }
            : { isMerged: true, changes: 1 },
        getConflict: ({ path }) => ({
          path,
          base: createText('sum = ""\n'),
          ours: createText('sum = 0n\n'),
          theirs: createText('sum = 0\n'),
          merged: createText('<<<<<<< ours\nsum = 0n\n=======\nsum = 0\n>>>>>>> shop-1\n'),
          digest: 'sides',
          isRedacted: false,
          oursBy: [person],
          theirsBy: [agent],
        }),
      },
      comparison,
    )
    await page.getByRole('button', { name: 'Apply to' }).click()
    await page.getByText('1 conflict to resolve').waitFor()
    await page.getByRole('checkbox', { name: 'Keep /src/cart.ts' }).uncheck()
    await page.getByText('1 conflict to resolve').waitFor({ state: 'detached' })
    await page.getByRole('checkbox', { name: 'Keep /src/cart.ts' }).check()
    await page.getByText('by process 2').waitFor()
    const use = page.getByRole('button', { name: 'Use this text' })
    expect(await use.isDisabled(), 'a text with markers is not a resolution').toBe(true)
    await replaceText(page, 'Your version of /src/cart.ts', 'sum = 0n // cents\n')
    await use.click()
    await page.getByRole('button', { name: 'Apply to' }).click()
    await page.getByText('Wrote 1 change').waitFor()
    expect(fixture.calls.filter(({ name }) => name === 'merge').at(-1)?.params).toMatchObject({
      resolutions: [{ path: '/src/cart.ts', text: 'sum = 0n // cents\n', digest: 'sides' }],
    })
  })

  it('shows what a command would change before it is approved, and denies another', async () => {
    const approvals = [
      createApproval('a1'),
      createApproval('a2', { command: { argv: ['git', 'push'] }, askedAt: '2026-11-17T10:01:00.000Z' }),
    ]
    const { page, fixture } = await open(
      {
        listApprovals: () => list(approvals),
        listWaiting: () => ({ approvals: approvals.map(({ id }) => id), questions: [], merges: [] }),
        tryApproval: () => ({
          id: 't1',
          exitCode: 0,
          isTimedOut: false,
          durationMs: 1200,
          stdout: createText('built\n'),
          stderr: createText(''),
          changes: 1,
          from: 'fork:trial^',
          to: 'fork:trial',
          expiresAt: '2026-11-17T11:00:00.000Z',
          limits: ['it ran without network'],
        }),
        listChanges: () => list([cart]),
        getFileDiff: () => createDiff(cart, threeHunks),
        decideApproval: () => null,
      },
      '/approvals',
    )
    await page.getByRole('button', { name: 'Try it in a throw-away fork' }).click()
    await page.getByText('changed 1 file').waitFor()
    await page.getByRole('cell', { name: 'added: THREE' }).waitFor()
    await page.getByLabel('Its hosts, for this project').check()
    await page.getByLabel('End of the approval').selectOption({ label: 'for an hour' })
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('link', { name: 'git push' }).click()
    await page.locator('.exact', { hasText: 'git push' }).waitFor()
    await page.keyboard.press('d')
    await page.keyboard.press('d')
    const decisions = () =>
      fixture.calls.filter(({ name }) => name === 'decideApproval').map(({ params }) => params)
    await expect.poll(decisions).toEqual([
      { id: 'a1', decision: 'approve', scope: 'project', expiresMinutes: 60 },
      { id: 'a2', decision: 'deny' },
    ])
  })

  it('shows hostile names and contents as text, with every hidden character', async () => {
    const change = createChange(`/${HOSTILE}`)
    const { page } = await open(
      {
        listTrees: () =>
          list([
            createTree(shop, { name: HOSTILE }),
            createTree('fork:shop-1', { parent: shop, name: HOSTILE }),
          ]),
        listProcesses: () =>
          list([createProcess(1, { intent: HOSTILE, lastAction: HOSTILE, agent: HOSTILE })]),
        listChanges: () => list([change]),
        getFileDiff: () => createDiff(change, [createHunk(0, 1, ` ${HOSTILE}`, `+${HOSTILE}</script>`)]),
        listSteps: () => list([createStep(1, { response: createText(HOSTILE), summary: HOSTILE })]),
        listStepFiles: () => ({ ...list([]), from: null, to: null }),
        listFiles: () => list([{ name: HOSTILE, path: `/${HOSTILE}`, type: 'file', size: 1, mtime: TIME }]),
      },
      '/',
    )
    await page.getByText('<img src=x onerror=alert(1)>').first().waitFor()
    for (const path of [comparison, '/process?pid=1', '/files?tree=fork%3Ashop-1']) {
      await page.goto(new URL(path, page.url()).href)
      await page.getByTitle('U+202E').first().waitFor()
      expect(await page.locator('img').count()).toBe(0)
      expect(await page.locator('main').innerText()).not.toMatch(/[^\P{C}\n\t]/u)
    }
  })

  it('shows a comparison before the home is read, and the next file before it is asked for', async () => {
    const home = Promise.withResolvers<void>()
    const paths = ['/a.ts', '/b.ts', '/c.ts']
    let line = '+apples'
    const { page, fixture } = await open(
      {
        listTrees: async () => {
          await home.promise
          return list([createTree(shop), createTree('fork:shop-1', { parent: shop, changes: 3 })])
        },
        listChanges: () => list(paths.map((path) => createChange(path))),
        getFileDiff: ({ path }) => createDiff(createChange(path), [createHunk(0, 1, '-old', line)]),
      },
      comparison,
    )
    const countReads = () => fixture.calls.filter(({ name }) => name === 'getFileDiff').length
    await page.getByRole('checkbox', { name: 'Keep /c.ts' }).waitFor()
    await page.getByText('apples').waitFor()
    expect(await page.getByRole('button', { name: 'Apply to' }).count()).toBe(0)
    home.resolve()
    await page.getByRole('button', { name: 'Apply to' }).waitFor()
    // The shown file once, and the next one.
    await expect.poll(countReads).toBe(2)
    await page.keyboard.press('j')
    await page.getByRole('heading', { name: '/b.ts' }).waitFor()
    // The files before and behind it.
    await expect.poll(countReads).toBe(4)
    // What was read ahead is not shown after a change.
    line = '+pears'
    fixture.publish({ type: 'journal', tree: 'fork:shop-1', since: 12, seq: 13, rows: [] })
    await page.getByText('pears').waitFor()
    await page.keyboard.press('j')
    await page.getByRole('heading', { name: '/c.ts' }).waitFor()
    await page.getByText('pears').waitFor()
    expect(await page.getByText('apples').count()).toBe(0)
  })

  it('stays fluid with 10,000 changed files: only the rows in view exist', async () => {
    const changes = Array.from({ length: 10_000 }, (_, at) =>
      createChange(`/src/file-${String(at).padStart(5, '0')}.ts`),
    )
    const { page } = await open(
      {
        ...trees,
        listChanges: ({ cursor }) => {
          const start = Number(cursor ?? 0)
          const end = start + MAX_PAGE_ITEMS
          return { items: changes.slice(start, end), next: end < changes.length ? String(end) : null }
        },
        getFileDiff: ({ path }) => createDiff(createChange(path), threeHunks),
      },
      comparison,
    )
    await page.getByText('10,000 files', { exact: true }).waitFor()
    const rows = page.getByRole('list', { name: 'Changed files' }).getByRole('listitem')
    expect(await rows.count()).toBeLessThan(100)
    await page.keyboard.press('j')
    await page.getByRole('heading', { name: '/src/file-00001.ts' }).waitFor()
    await page.waitForURL(/file-00001/)
    await page
      .getByRole('group', { name: 'Changed files' })
      .evaluate((box) => box.scrollTo(0, box.scrollHeight))
    await page.getByText('file-09999.ts').waitFor()
    expect(await rows.count()).toBeLessThan(100)
  })

  it('says what a change is that has no lines, and what else is no plain file', async () => {
    const sizes = { oldSize: 0, newSize: 0, lines: null }
    const directory = createChange('/made', { kind: 'added', type: 'directory', ...sizes })
    const empty = createChange('/empty\nfile', { kind: 'added', ...sizes })
    const link = createChange('/link', { kind: 'added', type: 'symlink' })
    const { page } = await open(
      {
        listTrees: () => list([createTree(shop), createTree('fork:shop-1', { parent: shop, changes: null })]),
        listWaiting: () => ({
          approvals: [],
          questions: [],
          merges: [{ sources: ['vault:task'], into: 'vault:base', resolved: 0 }],
        }),
        listChanges: () => list([directory, empty, link]),
        getFileDiff: ({ path }) =>
          path === '/link'
            ? createDiff(link, [createHunk(0, 1, '+/etc/passwd')])
            : createDiff(path === '/made' ? directory : empty, []),
      },
      '/',
    )
    await page.getByText('none resolved yet').waitFor()
    await page.getByText('many changes').waitFor()
    await page.goto(new URL(comparison, page.url()).href)
    await page.getByText('A directory was added').waitFor()
    await page.keyboard.press('j')
    await page.getByRole('heading', { name: /empty.?U\+000A.?file/ }).waitFor()
    await page.getByText('The file is empty').waitFor()
    await page.keyboard.press('j')
    await page.getByRole('region', { name: 'File /link' }).getByText('symbolic link').waitFor()
    await page.getByRole('button', { name: 'added link symbolic link' }).waitFor()
  })

  it('keeps both sides of long lines in view, and scrolls them together', async () => {
    const tail = `${' and more'.repeat(60)} end`
    const { page } = await open(
      {
        ...trees,
        listChanges: () => list([cart]),
        getFileDiff: () => createDiff(cart, [createHunk(0, 1, `-left${tail}`, `+right${tail}`)]),
      },
      comparison,
    )
    await page.getByRole('button', { name: 'Split' }).click()
    const lines = page.getByRole('group', { name: 'Changes of' })
    const measure = () =>
      lines.evaluate((box) => {
        const frame = box.getBoundingClientRect()
        return [...box.querySelectorAll('.code')].map((cell) => {
          const range = box.ownerDocument.createRange()
          range.selectNodeContents(cell)
          const [outer, inner] = [cell.getBoundingClientRect(), range.getBoundingClientRect()]
          return { isInView: outer.right <= frame.right, isAtEnd: inner.right <= outer.right }
        })
      })
    const [isInView, isAtEnd] = [true, false]
    await expect.poll(measure).toEqual([
      { isInView, isAtEnd },
      { isInView, isAtEnd },
    ])
    await lines.evaluate((box) => box.scrollTo(box.scrollWidth, 0))
    await expect.poll(measure).toEqual([
      { isInView, isAtEnd: true },
      { isInView, isAtEnd: true },
    ])
  })

  it('shows both versions of a changed image, and an image among the files', async () => {
    const logo = createChange('/logo.png', { kind: 'renamed', from: '/old.png', isBinary: true, lines: null })
    const { page } = await open(
      {
        ...trees,
        listChanges: () => list([logo]),
        getFileDiff: () => ({ ...createDiff(logo, []), isBinary: true }),
        readImage: ({ tree, path }) =>
          path === (tree.endsWith('^') ? '/old.png' : '/logo.png')
            ? { mimeType: 'image/png', data: PIXEL }
            : null,
        listFiles: () => list([{ name: 'logo.png', path: '/logo.png', type: 'file', size: 70, mtime: TIME }]),
        readFile: ({ path }) => ({
          path,
          type: 'file',
          size: 70,
          mtime: TIME,
          isBinary: true,
          text: '',
          isRedacted: false,
          offset: 0,
          next: null,
          version: null,
        }),
      },
      comparison,
    )
    const sides = page.getByRole('figure')
    await sides.getByText('Before: 120 B, 1 × 1 pixels').waitFor()
    await sides.getByText('Now: 140 B, 1 × 1 pixels').waitFor()
    await page.getByRole('link', { name: 'File', exact: true }).click()
    await page.getByRole('img', { name: '70 B' }).waitFor()
    expect(await findViolations(page)).toEqual([])
  })

  it('goes to any moment by the slider, and shows the file of that moment', async () => {
    const { page, fixture } = await open(
      {
        listTrees: () => list([createTree('vault:base')]),
        listFiles: () => list([{ name: 'a.txt', path: '/a.txt', type: 'file', size: 1, mtime: TIME }]),
        readFile: ({ tree, path }) => ({
          path,
          type: 'file',
          size: 10,
          mtime: TIME,
          isBinary: false,
          text: `content of ${tree}\n`,
          isRedacted: false,
          offset: 0,
          next: null,
          version: null,
        }),
        getJournalBuckets: () => createBuckets(100_000),
        restoreTree: () => ({ seq: 100_001 }),
      },
      '/files?tree=vault%3Abase&path=%2Fa.txt',
    )
    await page.getByText('content of vault:base', { exact: true }).waitFor()
    await page.getByRole('slider', { name: 'Moment' }).fill('41000')
    await page.getByText('content of vault:base~41000').waitFor()
    await page.waitForURL(/at=%7E41000/)
    await page.reload()
    await page.getByText('content of vault:base~41000').waitFor()
    await page.keyboard.press(']')
    await page.getByText('content of vault:base~41001').waitFor()
    await page.getByLabel('Checkpoint').selectOption({ index: 1 })
    await page.getByText('content of vault:base@before').waitFor()
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('button', { name: 'Restore' }).click()
    await expect
      .poll(() => fixture.calls.find(({ name }) => name === 'restoreTree')?.params)
      .toEqual({ tree: 'vault:base@before' })
  })

  it('undoes a prompt of an agent outside after a look at what changes, and takes that back', async () => {
    const prompt = {
      kind: 'prompt',
      time: TIME,
      prompt: 3,
      agent: 'claude',
      text: 'rename the cart',
    } as const
    const undone = {
      kind: 'record',
      time: TIME,
      number: 9,
      by: 'undo',
      call: null,
      changes: [{ path: '/src/cart.ts', kind: 'modified' }],
      total: 1,
      skipped: [],
      isUndone: false,
    } as const
    const report = { changes: undone.changes, total: 1, prompts: [3], skipped: [] }
    const { page, fixture } = await open(
      { listTimeline: () => list([prompt]), undoTimeline: () => report, redoTimeline: () => report },
      '/timeline?directory=%2Fhome%2Fme%2Fshop',
    )
    await page.getByRole('button', { name: 'Undo this prompt' }).click()
    await page.getByText('1 file: /src/cart.ts').waitFor()
    fixture.answer({ listTimeline: () => list([undone, prompt]) })
    await page.getByRole('button', { name: 'Put them back' }).click()
    await page.getByRole('button', { name: 'Redo' }).click()
    const sent = () =>
      fixture.calls.filter(({ name }) => /^(?:un|re)do/.test(name)).map(({ params }) => params)
    const directory = '/home/me/shop'
    await expect
      .poll(sent)
      .toEqual([
        { directory, selection: { prompt: 3 }, isTrial: true },
        { directory, selection: { prompt: 3 } },
        { directory },
      ])
  })

  it('goes anywhere by keyboard: the palette, the keys of a screen, and their help', async () => {
    const { page } = await open({
      ...trees,
      listProcesses: () => list([createProcess(3, { intent: 'write the notes' })]),
    })
    await page.getByText('write the notes').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to' }).waitFor()
    await page.keyboard.type('notes')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/process?pid=3')
    // The keys of a screen are there when it is.
    await page.getByRole('heading', { name: 'write the notes' }).waitFor()
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keys' })
    await help.getByText('Next step').waitFor()
    await page.keyboard.press('Escape')
    // By its element: one that is about to go has no role any more, but the keys.
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('A')
    await page.waitForURL('**/approvals')
    await page.goBack()
    await page.waitForURL('**/process?pid=3')
  })

  it('has an answer for every question of a process', async () => {
    const question = {
      id: 'q1',
      pid: 1,
      questions: [
        { question: 'Which database?', options: ['SQLite', 'Postgres'], isMulti: false },
        { question: 'Its name?', options: [], isMulti: false },
        { question: 'Which checks?', options: ['lint', 'types'], isMulti: true },
      ],
    }
    const { page, fixture } = await open({
      listProcesses: () => list([createProcess(1, { questions: [question] })]),
      listWaiting: () => ({ approvals: [], questions: [question], merges: [] }),
      answerQuestion: () => null,
    })
    await page.getByLabel('SQLite').check()
    await page.getByLabel('Answer').fill('shop')
    await page.getByLabel('types').check()
    await page.getByRole('button', { name: 'Answer' }).click()
    await expect
      .poll(() => fixture.calls.find(({ name }) => name === 'answerQuestion')?.params)
      .toEqual({
        id: 'q1',
        answers: ['SQLite', 'shop', ['types']],
      })
  })

  it('fits 320 pixels, and has no barrier that axe finds in the dark theme', async () => {
    const { page } = await open(
      {
        ...trees,
        listProcesses: () =>
          list([
            createProcess(1),
            createProcess(2, { state: 'ended', exitCode: 1, reason: 'too many steps' }),
          ]),
        listApprovals: () => list([createApproval('a1')]),
        listWaiting: () => ({ approvals: ['a1'], questions: [], merges: [] }),
        listSteps: () =>
          list([
            createStep(1, {
              calls: [{ tool: '/dev/fs', input: createText('x'), result: createText('y'), error: 'no' }],
            }),
          ]),
        listStepFiles: () => ({ ...list([cart]), from: 'fork:shop-1^', to: 'fork:shop-1' }),
        listChanges: () => list([cart]),
        getFileDiff: () => createDiff(cart, threeHunks),
        listFiles: () => list([{ name: 'a.ts', path: '/a.ts', type: 'file', size: 1, mtime: TIME }]),
        getJournalBuckets: () => createBuckets(100),
        listBlame: () =>
          list([
            {
              line: 1,
              text: 'const a = 1 // one',
              seq: 1,
              time: TIME,
              author: agent,
            },
          ]),
      },
      '/',
      { colorScheme: 'dark' },
    )
    const waits: Readonly<Record<string, string>> = {
      '/': 'Waiting for you',
      [comparison]: 'THREE',
      '/process?pid=1': 'I read the file first.',
      '/approvals': 'May this command run?',
      '/files?tree=fork%3Ashop-1&path=%2Fa.ts&view=blame': 'const',
    }
    for (const [path, text] of Object.entries(waits)) {
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.goto(new URL(path, page.url()).href)
      await page.getByText(text).first().waitFor()
      expect(await findViolations(page), path).toEqual([])
      await page.setViewportSize({ width: 320, height: 640 })
      expect(await page.evaluate('document.documentElement.scrollWidth'), `${path} fits`).toBe(320)
    }
  })
})

function createBuckets(rows: number): WebMethods['getJournalBuckets']['result'] {
  const size = Math.ceil(rows / 100)
  return {
    first: 1,
    last: rows,
    buckets: Array.from({ length: 100 }, (_, at) => ({
      from: at * size + 1,
      to: (at + 1) * size,
      fromTime: TIME,
      toTime: TIME,
      rows: size,
      authors: [{ author: at % 2 === 0 ? agent : person, rows: size }],
    })),
    checkpoints: [{ name: 'before', time: TIME, seq: 10, description: '' }],
  }
}
