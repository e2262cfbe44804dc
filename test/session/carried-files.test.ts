import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { LayerFile } from '../../src/workspace/isolation/layer-file.ts'
import { CarriedFiles } from '../../src/workspace/session/run/carried-files.ts'

it('a shared file that cannot be written is tried again, and does not end the command', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-carried-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const [home, upper] = [join(directory, 'home'), join(directory, 'upper')]
  mkdirSync(upper)
  const layer = new LayerFile(upper, home, 'settings')
  using _carried = new CarriedFiles([{ mode: 'share', host: join(home, 'settings'), layer }])
  // A file in place of the home: nothing can be written below it.
  writeFileSync(home, '')
  writeFileSync(join(upper, 'settings'), 'changed')
  vi.advanceTimersByTime(1000)
  rmSync(home)
  vi.advanceTimersByTime(1000)
  expect(readFileSync(join(home, 'settings'), 'utf8')).toBe('changed')
})
