import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { TimelineFiles } from '../../timeline/events/index.ts'
import { isTooWide, listAbove } from './enclosing-project.ts'

/** Variables with the directory that an agent was started in; its working directory may be deeper. */
const PROJECT_VARIABLES = ['CLAUDE_PROJECT_DIR', 'CURSOR_PROJECT_DIR', 'GEMINI_PROJECT_DIR'] as const

/**
 * Returns the project that an agent's event is about: the repository around its directory, else the directory around it
 * that is recorded already, else that itself. A variable of the agent's program overrides the directory.
 */
export function findEventProject(home: string, directory: string | undefined): string {
  const projectPath = PROJECT_VARIABLES.map((name) => process.env[name]).find((value) => value)
  const start = realpathSync(projectPath ?? directory ?? process.cwd())
  const above = listAbove(start)
  return (
    above.find((path) => existsSync(join(path, '.git'))) ??
    above.find((path) => new TimelineFiles(home, path).exists) ??
    start
  )
}

/** Returns the reason why a directory is not recorded; undefined if it may be. */
export function findRecordingProblem(directory: string): string | undefined {
  return isTooWide(directory)
    ? `${directory} is not recorded: start the agent in a project's directory`
    : undefined
}
