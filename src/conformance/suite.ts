import assert from 'node:assert/strict'
import type { FileSystem } from '../vfs/index.ts'
import { bothInterfacesCases } from './cases/both-interfaces.ts'
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
  'the synchronous interface': synchronousCases,
  helpers: helperCases,
  properties: [...propertyCases, ...bothInterfacesCases],
}

/**
 * Registers the whole contract of a file system as tests of the given runner. The capabilities of the file system decide
 * which cases run.
 */
export function fileSystemSuite({ describe, it }: Runner, subject: Subject): void {
  assertKnownCases(Object.keys(subject.expectedFailures ?? {}))
  describe(subject.name, () => {
    for (const [group, cases] of Object.entries(groups)) {
      describe(group, () => {
        for (const testCase of cases) it(testCase.name, (context) => runCase(testCase, subject, context))
      })
    }
  })
}

async function runCase(testCase: Case, subject: Subject, context: TestContext): Promise<void> {
  const fs = await subject.create(testCase.seed ?? standardSeed)
  try {
    const skipReason = findSkipReason(testCase, fs)
    if (skipReason !== undefined) {
      assert.ok(
        !(testCase.name in (subject.expectedFailures ?? {})),
        `this case is skipped (${skipReason}): remove it from expectedFailures`,
      )
      return void context.skip?.(skipReason)
    }
    await writeMissingSeed(fs, testCase.seed ?? standardSeed)
    await runAndCheck(testCase, subject, fs)
  } finally {
    await subject.dispose?.(fs)
  }
}

async function runAndCheck(testCase: Case, subject: Subject, fs: FileSystem): Promise<void> {
  const reason = subject.expectedFailures?.[testCase.name]
  if (reason === undefined) return testCase.run(fs, subject)
  const failed = await testCase.run(fs, subject).then(
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

async function writeMissingSeed(fs: FileSystem, seed: Seed): Promise<void> {
  for (const [path, content] of Object.entries(seed)) {
    if (await fs.exists(path)) continue
    assert.ok(
      fs.capabilities.has('write'),
      `create() must return a read-only file system with its seed: ${path} is missing`,
    )
    await fs.write(path, content)
  }
}

function assertKnownCases(names: readonly string[]): void {
  const known = new Set(Object.values(groups).flatMap((cases) => cases.map(({ name }) => name)))
  const unknown = names.filter((name) => !known.has(name))
  assert.deepEqual(unknown, [], 'expectedFailures names tests that do not exist')
}
