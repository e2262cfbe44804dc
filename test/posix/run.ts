/** The entry point of `npm run posix -- [suite…]`: the suites of others on a mounted vault. Takes half an hour. */
import { whyNoMount } from '../fuse/mounted-vault.ts'
import type { Check, Suite } from './check.ts'
import { Places } from './places.ts'
import { Report } from './report.ts'
import { suites } from './suites/index.ts'

// The end of the process takes its mounts and programs along; a signal alone would leave them.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !suites.some((suite) => suite.name === name))
const reason = whyNoMount()
if (reason !== undefined) end(`nothing can be mounted here: ${reason}`)
else if (unknown.length > 0) end(`no suite '${unknown.join(', ')}'. There are:\n${listing()}`)
else await main(suites.filter(({ name }) => wanted.length === 0 || wanted.includes(name)))

async function main(chosen: readonly Suite[]): Promise<void> {
  const report = new Report()
  for (const suite of chosen) {
    process.stdout.write(`\n${suite.name}: ${suite.about}\n`)
    await using places = await Places.create()
    await runSuite(suite, places, report)
  }
  process.stdout.write(`\n${report.summary()}`)
  if (report.hasFailed) process.exitCode = 1
}

async function runSuite({ name, checks: prepare }: Suite, places: Places, report: Report): Promise<void> {
  let checks: readonly Check[] = []
  await report.note(name, 'preparation', async () => {
    checks = await prepare(places)
  })
  if (checks.length === 0) return
  for (const check of checks) await report.note(name, check.name, () => check.run())
  await report.note(name, 'the vault is whole afterwards', async () => {
    const damage = await places.damage()
    if (damage.length > 0) throw new Error(`fsck found ${JSON.stringify(damage)}`)
  })
}

function listing(): string {
  return suites.map(({ name, about }) => `  ${name.padEnd(10)}${about}`).join('\n')
}

function end(words: string): void {
  process.stderr.write(`${words}\n`)
  process.exitCode = 1
}
