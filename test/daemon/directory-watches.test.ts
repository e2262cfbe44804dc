import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  getDirectoryIdentity,
  scanDirectory,
  UndoRules,
  type WatchAnswer,
} from '../../src/timeline/events/index.ts'
import { StatIndex } from '../../src/timeline/events/stat-index.ts'
import { DirectoryWatches } from '../../src/timeline/watch/directory-watches.ts'
import { WatchBudget } from '../../src/timeline/watch/watch-budget.ts'

class Scene implements Disposable {
  readonly place: string = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-watch-')))
  readonly directory: string = join(this.place, 'project')
  readonly watches: DirectoryWatches

  constructor(budget?: WatchBudget) {
    this.watches = new DirectoryWatches(join(this.place, 'home'), budget)
    mkdirSync(this.directory)
  }

  ask(mark?: string, settings = {}): Promise<WatchAnswer> {
    const { directory } = this
    return this.watches.ask({ directory, identity: getDirectoryIdentity(directory) ?? '', settings, mark })
  }

  /** Asks until the whole directory is watched. */
  async waitForMark(settings = {}): Promise<string> {
    for (;;) {
      const { mark } = await this.ask(undefined, settings)
      if (mark !== undefined) return mark
    }
  }

  path(name: string): string {
    return join(this.directory, name)
  }

  [Symbol.dispose](): void {
    this.watches[Symbol.dispose]()
    rmSync(this.place, { recursive: true, force: true })
  }
}

function openScene(budget?: WatchBudget): Scene {
  const scene = new Scene(budget)
  onTestFinished(() => scene[Symbol.dispose]())
  return scene
}

describe('a watched directory', () => {
  it('is unchanged until a recorded path changes', async () => {
    const scene = openScene()
    mkdirSync(scene.path('src/deep'), { recursive: true })
    writeFileSync(scene.path('src/deep/a'), '1')
    mkdirSync(scene.path('node_modules/x'), { recursive: true })
    const mark = await scene.waitForMark()
    expect(await scene.ask(mark)).toEqual({ mark, isUnchanged: true })
    writeFileSync(scene.path('node_modules/x/y'), '1')
    expect(await scene.ask(mark)).toEqual({ mark, isUnchanged: true })
    appendFileSync(scene.path('src/deep/a'), '2')
    const changed = await scene.ask(mark)
    expect(changed.isUnchanged).toBe(false)
    expect(await scene.ask(changed.mark)).toEqual({ mark: changed.mark, isUnchanged: true })
  })

  it('follows directories that appear, move and come back', async () => {
    const scene = openScene()
    let mark: string | undefined = await scene.waitForMark()
    const changesBy = async (work: () => void) => {
      work()
      const answer = await scene.ask(mark)
      mark = answer.mark
      return !answer.isUnchanged
    }
    const change = (path: string) => () => writeFileSync(scene.path(path), String(Math.random()))
    expect(await changesBy(() => mkdirSync(scene.path('a/b'), { recursive: true }))).toBe(true)
    expect(await changesBy(change('a/b/new'))).toBe(true)
    expect(await changesBy(() => renameSync(scene.path('a'), scene.path('c')))).toBe(true)
    expect(await changesBy(change('c/b/new'))).toBe(true)
    expect(await changesBy(() => rmSync(scene.path('c'), { recursive: true }))).toBe(true)
    expect(await changesBy(() => mkdirSync(scene.path('c/b'), { recursive: true }))).toBe(true)
    expect(await changesBy(change('c/b/new'))).toBe(true)
    expect(await changesBy(() => chmodSync(scene.path('c/b'), 0o700))).toBe(true)
    expect(await changesBy(() => mkdirSync(scene.path('c/dist')))).toBe(false)
    expect(await changesBy(() => rmSync(scene.path('c/dist'), { recursive: true }))).toBe(true)
    // A file of this name is recorded, a directory is not.
    expect(await changesBy(change('c/dist'))).toBe(true)
    expect(
      await changesBy(() => {
        rmSync(scene.path('c/dist'))
        mkdirSync(scene.path('c/dist'))
      }),
    ).toBe(true)
    expect(await changesBy(change('c/dist/built'))).toBe(false)
    expect(await changesBy(() => {})).toBe(false)
  })

  it('takes no more watches of the system than it may, and gives them back', async () => {
    const scene = openScene(new WatchBudget(3))
    mkdirSync(scene.path('a/b'), { recursive: true })
    await scene.waitForMark()
    rmSync(scene.path('a'), { recursive: true })
    mkdirSync(scene.path('c/d'), { recursive: true })
    const mark = await scene.waitForMark()
    expect(await scene.ask(mark)).toEqual({ mark, isUnchanged: true })
    mkdirSync(scene.path('e'))
    expect(await scene.ask(mark)).toEqual({ isUnchanged: false })
    await scene.ask()
    expect(scene.watches.list()).toEqual([{ directory: scene.directory, state: 'failed' }])
  })

  it('takes one watch for a directory that changes while the watch begins', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `d${index}`)
    const scene = openScene(new WatchBudget(names.length + 1))
    for (const name of names) mkdirSync(scene.path(name))
    const begun = scene.ask()
    for (const name of names) chmodSync(scene.path(name), 0o700)
    await begun
    while (scene.watches.list().some(({ state }) => state === 'starting')) await scene.ask()
    expect(scene.watches.list()).toEqual([{ directory: scene.directory, state: 'watched' }])
  })

  it('knows no mark of another watch', async () => {
    const scene = openScene()
    const mark = await scene.waitForMark()
    const other = await scene.waitForMark({ exclude: ['kept/'] })
    expect(other).not.toBe(mark)
    expect((await scene.ask(mark, { exclude: ['kept/'] })).isUnchanged).toBe(false)
  })

  it('is watched anew when it is replaced, and when what is recorded changes', async () => {
    const scene = openScene()
    mkdirSync(scene.path('.git'))
    writeFileSync(scene.path('.git/HEAD'), 'ref: refs/heads/main\n')
    mkdirSync(scene.path('dist'))
    const first = await scene.waitForMark()
    writeFileSync(scene.path('.gitignore'), 'dist/\n')
    const second = await scene.waitForMark()
    expect(second).not.toBe(first)
    writeFileSync(scene.path('dist/built'), '1')
    expect(await scene.ask(second)).toEqual({ mark: second, isUnchanged: true })
    renameSync(scene.directory, `${scene.directory}-old`)
    mkdirSync(scene.directory)
    expect((await scene.ask(second)).isUnchanged).toBe(false)
  })

  it('is never unchanged where a scan finds a change', async () => {
    const names = fc.constantFrom('a', 'b', 'dist')
    const paths = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
    const kinds = fc.constantFrom('write', 'append', 'mkdir', 'mkdir', 'remove', 'chmod', 'move')
    const step = fc.record({ do: kinds, path: paths, to: paths, isLookedAt: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        using scene = new Scene()
        const rules = new UndoRules(scene.directory, {}, [])
        let mark = await scene.waitForMark()
        let { index } = scanDirectory(scene.directory, new StatIndex(0, ''), rules)
        for (const action of steps) {
          attempt(() => perform(scene, action))
          if (!action.isLookedAt) continue
          const answer = await scene.ask(mark)
          const scan = scanDirectory(
            scene.directory,
            new StatIndex(Number.MAX_SAFE_INTEGER, '', index.directories),
            rules,
          )
          // The time of a directory also changes with entries that are not recorded.
          const isKept = (path: string) => index.directories.has(path) && scan.index.directories.has(path)
          if (answer.isUnchanged) expect(scan.touched.filter((path) => !isKept(path))).toEqual([])
          mark = answer.mark ?? (await scene.waitForMark())
          index = scanDirectory(scene.directory, new StatIndex(0, ''), rules).index
        }
        mark = await scene.waitForMark()
        expect((await scene.ask(mark)).isUnchanged).toBe(true)
      }),
    )
  })
})

function perform(scene: Scene, action: { do: string; path: string; to: string }): void {
  const path = scene.path(action.path)
  if (action.do === 'write') writeFileSync(path, 'new')
  else if (action.do === 'append') appendFileSync(path, 'more')
  else if (action.do === 'mkdir') mkdirSync(path, { recursive: true })
  else if (action.do === 'remove') rmSync(path, { recursive: true })
  else if (action.do === 'chmod') chmodSync(path, 0o700 + (existsSync(path) ? 0o20 : 0))
  else renameSync(path, scene.path(action.to))
}

/** Missing parents, and moves of a directory into itself, are no steps. */
function attempt(step: () => void): void {
  try {
    step()
  } catch {}
}
