import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findAmbiguousNames, findUndocumented, formatReports } from './support/api-report.ts'
import { readPublicApi } from './support/public-api.ts'
import { root } from './support/run-node.ts'

describe('the public API', () => {
  const api = readPublicApi(root)

  it('is the one that the reports in `api` list', () => {
    const stored = new Map(
      readdirSync(join(root, 'api')).map((name) => [name, readFileSync(join(root, 'api', name), 'utf8')]),
    )
    const hint = 'the public API changed; if that is meant, run: npm run api'
    expect(Object.fromEntries(stored), hint).toEqual(Object.fromEntries(formatReports(api)))
  })

  it('has one meaning for each name, whichever subpath exports it', () => {
    expect(findAmbiguousNames(api)).toEqual([])
  })

  it('documents every exported name', () => {
    expect(findUndocumented(api)).toEqual([])
  })
})
