import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { MountedVault, whyNoMount } from './mounted-vault.ts'
import { posixCases } from './posix-cases.ts'

const reason = whyNoMount()
let places = 0

/** A directory for one case. */
function placeIn(root: string): string {
  const place = join(root, `case-${places++}`)
  mkdirSync(place)
  return place
}

describe.skipIf(reason !== undefined)(`POSIX on a plain directory${reason ? `: ${reason}` : ''}`, () => {
  const root = mkdtempSync(join(tmpdir(), 'coppice-posix-'))
  chmodSync(root, 0o755)
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  for (const [name, check] of Object.entries(posixCases)) it(name, () => check(placeIn(root)))
})

describe.skipIf(reason !== undefined)(`POSIX on a mounted vault${reason ? `: ${reason}` : ''}`, () => {
  let mounted: MountedVault
  beforeAll(async () => {
    mounted = await MountedVault.create()
  })
  afterAll(async () => {
    await mounted[Symbol.asyncDispose]()
  })
  for (const [name, check] of Object.entries(posixCases)) it(name, () => check(placeIn(mounted.path)))

  it('leaves a vault without damage behind', async ({ expect }) => {
    await using home = await openHome({ path: mounted.home })
    expect((await home.fsck()).damaged).toEqual([])
  })
})
