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
  const carried = new CarriedFiles([{ mode: 'share', host: join(home, 'settings'), layer }], directory)
  // A file in place of the home: nothing can be written below it.
  writeFileSync(home, '')
  writeFileSync(join(upper, 'settings'), 'changed')
  vi.advanceTimersByTime(1000)
  rmSync(home)
  vi.advanceTimersByTime(1000)
  expect(readFileSync(join(home, 'settings'), 'utf8')).toBe('changed')
  expect(carried.finish()).toEqual([])
})

it('a shared file that cannot be written at the end is named, and the command keeps its outcome', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-carried-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const [home, upper] = [join(directory, 'home'), join(directory, 'upper')]
  mkdirSync(upper)
  const layer = new LayerFile(upper, home, 'settings')
  const carried = new CarriedFiles(
    [
      { mode: 'share', host: join(home, 'settings'), layer },
      { mode: 'copy', host: '/other', layer: new LayerFile(upper, '/', 'other'), kept: join(home, 'other') },
    ],
    directory,
  )
  writeFileSync(home, '')
  writeFileSync(join(upper, 'settings'), 'changed')
  writeFileSync(join(upper, 'other'), 'changed')
  expect(carried.finish()).toEqual([
    expect.stringMatching(`^coppice: ${home}/settings does not have what the command wrote to it: E`),
    expect.stringMatching(`^coppice: ${home}/other does not have what the command wrote to it: E`),
  ])
})
