import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { HostFs } from '../backends/host/index.ts'
import { type Home, openHome } from '../backends/vault/index.ts'
import { type OpenedFork, openFork } from './open-fork.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-open-fork-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

function makeDirectory(name: string): string {
  const path = join(scratch, name)
  mkdirSync(path)
  return path
}

function open(home: Home, path: string, fork: string): Promise<OpenedFork> {
  const options = { closed: [], openDirectory: (directory: string) => new HostFs(directory) }
  return openFork(home, { path, fork, program: 'coppice mcp' }, options)
}

describe('a fork that was just created', () => {
  it('is joined by name in its directory, and refused in another', async () => {
    await using home = await openHome({ path: join(scratch, 'home') })
    const [here, elsewhere] = [makeDirectory('here'), makeDirectory('elsewhere')]
    const first = await open(home, here, 'fix')
    const second = await open(home, here, 'fix')
    expect(second.fork.name).toBe('fix')
    await expect(open(home, elsewhere, 'fix')).rejects.toThrow(`'fix' is not a fork of ${elsewhere}`)
    for (const opened of [first, second]) await opened.close()
  })
})
