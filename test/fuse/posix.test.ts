import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { MountedVault, whyNoMount } from './mounted-vault.ts'
import { posixCases } from './posix-cases.ts'
import { contentCases } from './posix-content.ts'
import { refusalCases } from './posix-refusals.ts'
import { rightsCases } from './posix-rights.ts'
import { timeCases } from './posix-times.ts'

const reason = whyNoMount()
const cases = Object.entries({
  ...posixCases,
  ...refusalCases,
  ...rightsCases,
  ...timeCases,
  ...contentCases,
})
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
  for (const [name, check] of cases) it(name, () => check(placeIn(root)))
})

describe.skipIf(reason !== undefined)(`POSIX on a mounted vault${reason ? `: ${reason}` : ''}`, () => {
  let mounted: MountedVault
  beforeAll(async () => {
    mounted = await MountedVault.create()
  })
  afterAll(async () => {
    await mounted[Symbol.asyncDispose]()
  })
  for (const [name, check] of cases) it(name, () => check(placeIn(mounted.path)))

  it('leaves an undamaged vault', async ({ expect }) => {
    await using home = await openHome({ path: mounted.home })
    expect((await home.fsck()).damaged).toEqual([])
  })
})
