/**
 * The entry point of `npm run agents-eval`: a model of rules repairs ten small projects, as a process of the kernel and with
 * the tools of `@modelcontextprotocol/server-filesystem`. Prints steps, tokens and success of both.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCheck } from './check.ts'
import { type EvalOptions, runOurs } from './ours.ts'
import type { ScriptedModel } from './policy.ts'
import { formatTable, getRatio, type SideResult, type TaskResult } from './table.ts'
import { type RepairTask, repairTasks } from './tasks.ts'
import { runTheirs } from './theirs.ts'

const MAX_RATIO = 0.7
const HELP = `Compare what a model reads with our tools and with server-filesystem

  npm run agents-eval                  the file tools of a process
  npm run agents-eval -- --all-tools   all default tools of a process, shell and children included
  npm run agents-eval -- --careful     a model that reads each file before it edits it
`

const { values } = parseArgs({
  options: {
    'all-tools': { type: 'boolean' },
    careful: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
})
if (values.help) process.stdout.write(HELP)
else await main({ allTools: values['all-tools'] ?? false, careful: values.careful ?? false })

/** Exits with 1 if a task is not solved, or if our tokens are above the limit. */
async function main(options: EvalOptions): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'eval-'))
  const results: TaskResult[] = []
  try {
    for (const [index, task] of repairTasks.entries()) {
      const ours = await runSide(task, join(scratch, `o${index}`), (directory) =>
        runOurs(task, directory, options),
      )
      const theirs = await runSide(task, join(scratch, `t${index}`), (directory) =>
        runTheirs(task, directory),
      )
      results.push({ task: task.name, ours, theirs })
    }
  } finally {
    await rm(scratch, { recursive: true })
  }
  process.stdout.write(`${formatTable(results)}\n`)
  const failures = results.flatMap(({ task, ours, theirs }) =>
    [ours, theirs].flatMap(({ failure }) => (failure === undefined ? [] : [`\n${task}: ${failure}`])),
  )
  process.stderr.write(failures.join('\n'))
  if (failures.length > 0 || getRatio(results) > MAX_RATIO) process.exitCode = 1
}

async function runSide(
  { check }: RepairTask,
  directory: string,
  run: (directory: string) => Promise<ScriptedModel>,
): Promise<SideResult> {
  await mkdir(directory)
  const { count } = await run(directory)
  return { count, failure: runCheck(check, directory) }
}
