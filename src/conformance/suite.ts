import assert from 'node:assert/strict'
import type { FileSystem } from '../vfs/index.ts'
import { bothFacesCases } from './cases/both-faces.ts'
import { directoryCases } from './cases/directories.ts'
import { hardLinkCases } from './cases/hard-links.ts'
import { helperCases } from './cases/helpers.ts'
import { linkCases } from './cases/links.ts'
import { listingCases } from './cases/listing.ts'
import { nameCases } from './cases/names.ts'
import { propertyCases } from './cases/properties.ts'
import { readOnlyCases } from './cases/read-only.ts'
import { readCases } from './cases/reading.ts'
import { secondaryCases } from './cases/secondary.ts'
import { attributeCases } from './cases/setattr.ts'
import { statCases } from './cases/stat.ts'
import { synchronousCases } from './cases/synchronous.ts'
import { walkCases } from './cases/walking.ts'
import { writeCases } from './cases/writing.ts'
import { type Case, type Runner, type Seed, type Subject, standardSeed, type TestContext } from './subject.ts'

const groups: Readonly<Record<string, readonly Case[]>> = {
  'stat and exists': statCases,
  readdir: listingCases,
  read: readCases,
  walk: walkCases,
  write: writeCases,
  'mkdir and remove': directoryCases,
  names: nameCases,
  'read-only': readOnlyCases,
  'secondary protocols': secondaryCases,
  'symbolic links': linkCases,
  attributes: attributeCases,
  'hard links': hardLinkCases,
  'the synchronous face': synchronousCases,
  helpers: helperCases,
  properties: [...propertyCases, ...bothFacesCases],
}

/**
 * Registers the whole contract of a file system as tests of the given runner. Only the declared capabilities decide
 * which rules apply.
 */
export function fileSystemSuite({ describe, it }: Runner, subject: Subject): void {
  assertKnownCases(Object.keys(subject.expectedFailures ?? {}))
  describe(subject.name, () => {
    for (const [group, cases] of Object.entries(groups)) {
      describe(group, () => {
        for (const rule of cases) it(rule.name, (context) => runCase(rule, subject, context))
      })
    }
  })
}

async function runCase(rule: Case, subject: Subject, context: TestContext): Promise<void> {
  const fs = await subject.create(rule.seed ?? standardSeed)
  try {
    const obstacle = findSkipReason(rule, fs)
    if (obstacle !== undefined) {
      assert.ok(
        !(rule.name in (subject.expectedFailures ?? {})),
        `not run at all (${obstacle}): remove it from expectedFailures`,
      )
      return void context.skip?.(obstacle)
    }
    await writeSeed(fs, rule.seed ?? standardSeed)
    await assertCaseOutcome(rule, subject, fs)
  } finally {
    await subject.dispose?.(fs)
  }
}

async function assertCaseOutcome(rule: Case, subject: Subject, fs: FileSystem): Promise<void> {
  const reason = subject.expectedFailures?.[rule.name]
  if (reason === undefined) return rule.run(fs, subject)
  const failed = await rule.run(fs, subject).then(
    () => false,
    () => true,
  )
  assert.ok(failed, `expected to fail (${reason}), but it passes: remove it from expectedFailures`)
}

function findSkipReason({ needs = [], without = [] }: Case, fs: FileSystem): string | undefined {
  const missing = needs.find((capability) => !fs.capabilities.has(capability))
  if (missing !== undefined) return `not declared: ${missing}`
  const present = without.find((capability) => fs.capabilities.has(capability))
  return present === undefined ? undefined : `declared: ${present}`
}

async function writeSeed(fs: FileSystem, seed: Seed): Promise<void> {
  for (const [path, content] of Object.entries(seed)) {
    if (await fs.exists(path)) continue
    assert.ok(
      fs.capabilities.has('write'),
      `create() must seed a file system that cannot be written: ${path} is missing`,
    )
    await fs.write(path, content)
  }
}

function assertKnownCases(names: readonly string[]): void {
  const known = new Set(Object.values(groups).flatMap((cases) => cases.map(({ name }) => name)))
  const unknown = names.filter((name) => !known.has(name))
  assert.deepEqual(unknown, [], 'expectedFailures names tests that do not exist')
}
