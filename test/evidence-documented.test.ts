import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claimGroups } from './evidence/claims.ts'
import { replaceFigures } from './evidence/page.ts'
import { figureLabels } from './support/figures.ts'
import { root } from './support/run-node.ts'

const page = readFileSync(join(root, 'docs/evidence.md'), 'utf8')
const claims = claimGroups.flatMap((group) => group.claims)

describe('docs/evidence.md', () => {
  it('shows exactly the claims and figures of the last recorded run', () => {
    const evidence = JSON.parse(readFileSync(join(root, 'docs/evidence.json'), 'utf8'))
    expect(page).toBe(replaceFigures(page, claimGroups, evidence))
  })

  it('refers to existing tests', () => {
    const missing = claims.flatMap(({ tests }) => tests).filter((test) => !existsSync(join(root, test)))
    expect(missing).toEqual([])
  })

  it('shows every counted figure in one claim', () => {
    const shown = claims.flatMap(({ figures = [] }) => figures)
    expect(shown.toSorted()).toEqual(Object.keys(figureLabels).toSorted())
  })

  it('names existing commands', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const named = [...page.matchAll(/`npm run ([a-z]+)/g)].map(([, name]) => name)
    expect(named.filter((name) => name !== undefined && !(name in scripts))).toEqual([])
  })

  it('refuses a page without the marks around its figures', () => {
    expect(() => replaceFigures('# Evidence\n', claimGroups, {})).toThrow(/restore it/)
  })
})
