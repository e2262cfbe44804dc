/**
 * The entry point of `npm run evidence -- [--long] [test…]`: runs the tests that `docs/evidence.md` rests on and rewrites
 * its figures. The short form takes some minutes, the long one hours.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { FIGURES_FILE, type FigureCount } from '../support/figures.ts'
import { root } from '../support/run-node.ts'
import type { Claim, Evidence, Form, Outcome } from './claim.ts'
import { claimGroups } from './claims.ts'
import { replaceFigures } from './page.ts'

const PAGE = join(root, 'docs/evidence.md')
const RECORD = join(root, 'docs/evidence.json')
const GIB = 2 ** 30
const HELP = `Run the tests that docs/evidence.md rests on and rewrite its figures

  npm run evidence             the short form, as in npm test: some minutes
  npm run evidence -- --long   the long form, as in npm run torture: hours
  npm run evidence -- --long test/torture/kill.test.ts
                               only the claims that rest on these tests; the other figures stay
`

/** The part of vitest's JSON report that is read here. */
interface TestReport {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { long: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
})
if (values.help) process.stdout.write(HELP)
else await main(values.long ? 'long' : 'short', positionals)

async function main(form: Form, wanted: readonly string[]): Promise<void> {
  const claims = selectClaims(wanted)
  const scratch = await mkdtemp(join(tmpdir(), 'coppice-evidence-'))
  try {
    const [report, figures] = [join(scratch, 'report.json'), join(scratch, 'figures')]
    await writeFile(figures, '')
    await runTests(form, new Set(claims.flatMap(({ tests }) => tests)), report, figures)
    const outcomes = summarize(claims, await readReport(report), await readCounts(figures))
    await record(form, outcomes)
    const failed = Object.values(outcomes).filter((outcome) => outcome.failed > 0)
    process.stdout.write(`${claims.length} claims, ${failed.length} with failing tests: docs/evidence.md\n`)
    if (failed.length > 0) process.exitCode = 1
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Returns the claims that rest on some tests, or all of them. Throws if no claim rests on one of them. */
function selectClaims(wanted: readonly string[]): Claim[] {
  const all = claimGroups.flatMap((group) => group.claims)
  const unknown = wanted.filter((test) => !all.some(({ tests }) => tests.includes(test)))
  if (unknown.length > 0)
    throw new Error(
      `no claim of docs/evidence.md rests on ${unknown.join(', ')}; see test/evidence/claims.ts`,
    )
  return wanted.length === 0 ? all : all.filter(({ tests }) => tests.some((test) => wanted.includes(test)))
}

/** Failing tests are a result here, so the exit code is not looked at: a run without a report throws later. */
async function runTests(
  form: Form,
  tests: ReadonlySet<string>,
  report: string,
  figures: string,
): Promise<void> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...tests]
  const long = form === 'long' ? { COPPICE_TORTURE: 'long' } : {}
  const env = { ...process.env, ...long, [FIGURES_FILE]: figures }
  const child = spawn(process.execPath, [vitest, ...args], { cwd: root, env, stdio: 'inherit' })
  await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
}

async function readReport(file: string): Promise<TestReport> {
  return JSON.parse(await readFile(file, 'utf8'))
}

async function readCounts(file: string): Promise<readonly FigureCount[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  return lines.map((line): FigureCount => JSON.parse(line))
}

function summarize(
  claims: readonly Claim[],
  { testResults }: TestReport,
  counts: readonly FigureCount[],
): Record<string, Outcome> {
  const outcomes = claims.map((claim): [string, Outcome] => {
    const files = testResults.filter(({ name }) => claim.tests.some((test) => name.endsWith(`/${test}`)))
    if (files.length !== claim.tests.length) throw new Error(`not all tests ran of '${claim.promise}'`)
    const results = files.flatMap(({ assertionResults }) => assertionResults)
    const counted = results.filter(({ fullName }) => fullName.includes(claim.only ?? ''))
    const having = (status: string) => counted.filter((result) => result.status === status).length
    const [passed, failed] = [having('passed'), having('failed')]
    return [
      claim.promise,
      {
        date: today(),
        ...{ passed, failed, skipped: counted.length - passed - failed },
        figures: sum(claim, counts),
      },
    ]
  })
  return Object.fromEntries(outcomes)
}

function sum({ figures = [] }: Claim, counts: readonly FigureCount[]): Outcome['figures'] {
  const sums = figures.map((figure) => {
    const own = counts.filter(({ name }) => name === figure)
    return [figure, own.reduce((total, { count }) => total + count, 0)]
  })
  return Object.fromEntries(sums)
}

/** Keeps the figures of other claims and of the other form. Forgets claims that the page no longer makes. */
async function record(form: Form, outcomes: Readonly<Record<string, Outcome>>): Promise<void> {
  const known: Evidence = JSON.parse(await readFile(RECORD, 'utf8').catch(() => '{}'))
  const all = { ...known[form]?.outcomes, ...outcomes }
  const shown = claimGroups
    .flatMap(({ claims }) => claims)
    .flatMap(({ promise }) => {
      const outcome = all[promise]
      return outcome === undefined ? [] : [[promise, outcome] as const]
    })
  const results = { machine: describeMachine(), outcomes: Object.fromEntries(shown) }
  const evidence: Evidence = { ...known, [form]: results }
  await writeFile(RECORD, `${JSON.stringify(evidence, null, 2)}\n`)
  await writeFile(PAGE, replaceFigures(await readFile(PAGE, 'utf8'), claimGroups, evidence))
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}

function describeMachine(): string {
  const memory = Math.round(totalmem() / GIB)
  return `Linux ${release()} ${process.arch}, ${cpus().length} cores, ${memory} GiB, Node ${process.versions.node}`
}
