/** The entry point of `npm run real-agents [-- <words of a story's name…>]`. */
import { installPrograms } from './install.ts'
import { execClaude, execCodex } from './stories/exec-agents.ts'
import { fourTerminals } from './stories/four-terminals.ts'
import { undoClaude, undoCodex } from './stories/hooks-undo.ts'
import { mcpClaude } from './stories/mcp-claude.ts'
import { mcpCodex } from './stories/mcp-codex.ts'
import { spawnCancel, spawnTimeLimit } from './stories/spawn-cancel.ts'
import { cutStream, errorsInside, errorsOutside, refusedKey } from './stories/spawn-errors.ts'
import { spawnSteps } from './stories/spawn-steps.ts'
import { streaming } from './stories/streaming.ts'
import { worktrees } from './stories/worktrees.ts'
import type { Story } from './story.ts'

const LIMIT_MS = 120_000
const stories: readonly Story[] = [
  spawnSteps,
  spawnCancel,
  spawnTimeLimit,
  errorsInside,
  errorsOutside,
  cutStream,
  refusedKey,
  streaming,
  mcpClaude,
  mcpCodex,
  execClaude,
  execCodex,
  fourTerminals,
  undoClaude,
  undoCodex,
  worktrees,
]

const words = process.argv.slice(2)
const chosen = stories.filter(({ name }) => words.every((word) => name.includes(word)))
if (chosen.length === 0) {
  console.error(`no story '${words.join(' ')}'; there are:\n${stories.map(({ name }) => name).join('\n')}`)
  process.exitCode = 1
} else {
  await installPrograms()
  for (const story of chosen) if (!(await play(story))) process.exitCode = 1
}

/** Runs a story and prints a line about it; returns false if it failed. */
async function play({ name, run }: Story): Promise<boolean> {
  const begin = performance.now()
  const label = () => `${name.padEnd(32)} ${((performance.now() - begin) / 1000).toFixed(1).padStart(5)} s`
  try {
    const proved = await run(AbortSignal.timeout(LIMIT_MS))
    console.log(`ok      ${label()}  ${proved}`)
    return true
  } catch (error) {
    console.log(`FAILED  ${label()}`)
    console.error(error)
    return false
  }
}
