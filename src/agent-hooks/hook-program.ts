import { join } from 'node:path'

export const hookProgramNames = ['claude', 'codex', 'cursor', 'gemini'] as const
export type HookProgramName = (typeof hookProgramNames)[number]

/** JSON values of a configuration file. */
export type ConfigTable = Readonly<Record<string, unknown>>

/** Directories below which programs look for their configuration. */
export interface HookPlaces {
  /** Home directory of the user. */
  readonly userDirectory: string
  /** Directory that the variable of the program names in place of its usual one. */
  readonly configDirectory?: string | undefined
}

/** A program of an agent that can run our hook, and the form of its configuration. */
export interface HookProgram {
  readonly name: HookProgramName
  readonly title: string
  /** Environment variable by which the user moves the directory of its configuration. */
  readonly directoryVariable?: string
  /** File for all projects of a user, and its usual directory. */
  readonly userFile: readonly [directory: string, file: string]
  /** File in a project, for this user if the program has such a file. */
  readonly projectFile: string
  /** Events that surround prompts and calls. */
  readonly events: readonly string[]
  /** Events that ask for a worktree, or remove one. */
  readonly worktreeEvents?: readonly string[]
  /** Members of the file that the program requires beside the hooks. */
  readonly base: ConfigTable
  /** Creates the entry in the list of an event that runs a command. */
  createEntry(event: string, command: string): ConfigTable
  /** A step that the program asks of the user after an installation. */
  readonly next?: string
}

/** Time limit of a hook: longer than any record takes, except the first one of a large directory. */
const TIMEOUT_SECONDS = 120

const CLAUDE_EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'SessionEnd']

/** Creates an entry as Claude Code and Codex read it. Events of tools have a matcher. */
function createGroupEntry(event: string, command: string): ConfigTable {
  const matcher = event.includes('Tool') ? { matcher: '*' } : {}
  return { ...matcher, hooks: [{ type: 'command', command, timeout: TIMEOUT_SECONDS }] }
}

const programs: Readonly<Record<HookProgramName, HookProgram>> = {
  claude: {
    name: 'claude',
    title: 'Claude Code',
    directoryVariable: 'CLAUDE_CONFIG_DIR',
    userFile: ['.claude', 'settings.json'],
    projectFile: '.claude/settings.local.json',
    // A command that ends with an error has an event of its own.
    events: [...CLAUDE_EVENTS, 'PostToolUseFailure'],
    worktreeEvents: ['WorktreeCreate', 'WorktreeRemove'],
    base: {},
    createEntry: createGroupEntry,
  },
  codex: {
    name: 'codex',
    title: 'Codex',
    directoryVariable: 'CODEX_HOME',
    userFile: ['.codex', 'hooks.json'],
    projectFile: '.codex/hooks.json',
    events: CLAUDE_EVENTS,
    base: {},
    createEntry: createGroupEntry,
    next: 'Codex runs new hooks after you trust them once: start it and type /hooks',
  },
  cursor: {
    name: 'cursor',
    title: 'Cursor',
    userFile: ['.cursor', 'hooks.json'],
    projectFile: '.cursor/hooks.json',
    events: [
      'sessionStart',
      'beforeSubmitPrompt',
      'preToolUse',
      'postToolUse',
      'postToolUseFailure',
      'stop',
      'sessionEnd',
    ],
    base: { version: 1 },
    createEntry: (_event, command) => ({ command, timeout: TIMEOUT_SECONDS }),
  },
  gemini: {
    name: 'gemini',
    title: 'Gemini CLI',
    userFile: ['.gemini', 'settings.json'],
    projectFile: '.gemini/settings.json',
    events: ['SessionStart', 'BeforeAgent', 'BeforeTool', 'AfterTool', 'AfterAgent', 'SessionEnd'],
    base: {},
    // Its time limits are in milliseconds.
    createEntry: (_event, command) => ({
      hooks: [{ name: 'coppice', type: 'command', command, timeout: TIMEOUT_SECONDS * 1000 }],
    }),
  },
}

export function getHookProgram(name: HookProgramName): HookProgram {
  return programs[name]
}

/** Returns the file with the hooks of a program, of a user or of a project. */
export function getHookFile(
  { userFile: [directory, file], projectFile }: HookProgram,
  { userDirectory, configDirectory }: HookPlaces,
  project: string | undefined,
): string {
  if (project !== undefined) return join(project, projectFile)
  return join(configDirectory ?? join(userDirectory, directory), file)
}
