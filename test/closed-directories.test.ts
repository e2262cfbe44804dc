import { chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ClosedDirectoriesReport } from './support/closed-directories-process.ts'
import { programFile } from './support/program-file.ts'
import { runAsNobody, whyNotNobody } from './support/tools.ts'

const NOBODY = 65_534

/** Runs an act as an ordinary user, killed at every step in turn. */
function killAtEveryStep(act: string): ClosedDirectoriesReport {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-closed-')))
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  chownSync(scratch, NOBODY, NOBODY)
  const script = programFile('closed-directories-process')
  return JSON.parse(runAsNobody(process.execPath, script, scratch, act))
}

describe.skipIf(whyNotNobody() !== undefined)('directories that their own user may not write to', () => {
  it.each(['apply', 'undo'])('have their modes again after an %s that is killed at any step', (act) => {
    const { outcomes, problems } = killAtEveryStep(act)
    expect(problems).toEqual([])
    expect(new Set(outcomes)).toEqual(new Set([null, 'taken-back', 'finished']))
    expect(outcomes.length).toBeGreaterThan(50)
  })
})
