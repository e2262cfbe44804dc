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
import { scanDirectory, UndoRules, type WatchAnswer } from '../../src/timeline/events/index.ts'
import { StatIndex } from '../../src/timeline/events/stat-index.ts'
import { DirectoryWatches } from '../../src/timeline/watch/directory-watches.ts'

class Scene implements Disposable {
  readonly place: string = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-watch-')))
  readonly directory: string = join(this.place, 'project')
  readonly watches: DirectoryWatches = new DirectoryWatches(join(this.place, 'home'))

  constructor() {
    mkdirSync(this.directory)
  }

  ask(mark?: string, settings = {}): Promise<WatchAnswer> {
    return this.watches.ask({ directory: this.directory, settings, mark })
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

function openScene(): Scene {
  const scene = new Scene()
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
    const names = fc.constantFrom('a', 'b', 'c', 'dist')
    const paths = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
    const step = fc.oneof(
      fc.record({ do: fc.constantFrom('write', 'append', 'mkdir', 'remove', 'chmod', 'look'), path: paths }),
      fc.record({ do: fc.constant('move'), path: paths, to: paths }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        using scene = new Scene()
        const rules = new UndoRules(scene.directory, {}, [])
        let mark = await scene.waitForMark()
        let { index } = scanDirectory(scene.directory, new StatIndex(0, ''), rules)
        for (const action of steps) {
          attempt(() => perform(scene, action))
          if (action.do !== 'look') continue
          const answer = await scene.ask(mark)
          const scan = scanDirectory(
            scene.directory,
            new StatIndex(Number.MAX_SAFE_INTEGER, '', index.directories),
            rules,
          )
          if (answer.isUnchanged) expect(scan.touched).toEqual([])
          mark = answer.mark ?? (await scene.waitForMark())
          index = scanDirectory(scene.directory, new StatIndex(0, ''), rules).index
        }
        mark = await scene.waitForMark()
        expect((await scene.ask(mark)).isUnchanged).toBe(true)
      }),
    )
  })
})

function perform(scene: Scene, action: { do: string; path: string; to?: string }): void {
  const path = scene.path(action.path)
  if (action.do === 'write') writeFileSync(path, 'new')
  else if (action.do === 'append') appendFileSync(path, 'more')
  else if (action.do === 'mkdir') mkdirSync(path, { recursive: true })
  else if (action.do === 'remove') rmSync(path, { recursive: true })
  else if (action.do === 'chmod') chmodSync(path, 0o700 + (existsSync(path) ? 0o20 : 0))
  else if (action.to !== undefined) renameSync(path, scene.path(action.to))
}

/** Missing parents, and moves of a directory into itself, are no steps. */
function attempt(step: () => void): void {
  try {
    step()
  } catch {}
}
