import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import {
  digestSides,
  mergeText,
  type ResolvedText,
  type SideNames,
  type TextSides,
} from '../../../backends/vault/index.ts'
import { CommandError } from '../../framework/errors.ts'

const MARKER = /^(?:<{7} |>{7} )/m
/** The marker between two versions. It may also underline a heading. */
const SEPARATOR = /^={7}$/m
const FILE_MODE = '100644'
/** Variables that would let git work on the project in place of the copy. */
const REPOSITORY_VARIABLES = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX']

/** A text file in conflict. */
export interface TextConflict {
  readonly path: string
  readonly sides: TextSides
  readonly names: SideNames
}

/**
 * Opens a conflict with both versions between markers in the user's editor, and returns the edited text. CommandError
 * if the editor fails or markers are left.
 */
export function editConflict(conflict: TextConflict): ResolvedText {
  const editor = process.env['VISUAL'] || process.env['EDITOR'] || 'vi'
  return withConflictFile(conflict, (file) => {
    // The variable may have options, as in `code --wait`.
    const { status, error } = spawnSync('sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit' })
    if (error !== undefined || status !== 0)
      throw new CommandError(
        `${conflict.path} is not resolved: the editor '${editor}' failed; choose another with EDITOR`,
      )
  })
}

/**
 * Opens a conflict in the tool of `git mergetool`, and returns the merged text. CommandError if git is missing, the
 * tool fails or markers are left.
 */
export function runMergeTool(conflict: TextConflict, tool: string | undefined): ResolvedText {
  const chosen = tool ?? (runGit(process.cwd(), ['config', 'merge.tool']).trim() || undefined)
  return withConflictFile(conflict, (file, directory) => {
    const name = basename(file)
    runGit(directory, ['init', '--quiet'])
    const { base, ours, theirs } = conflict.sides
    const staged = [base, ours, theirs].map((text, index) => {
      const id = runGit(directory, ['hash-object', '-w', '--stdin'], text).trim()
      return `${FILE_MODE} ${id} ${index + 1}\t${name}\0`
    })
    runGit(directory, ['update-index', '-z', '--index-info'], staged.join(''))
    const settings = ['-c', 'mergetool.keepBackup=false', ...(chosen ? ['-c', `merge.tool=${chosen}`] : [])]
    const { status, error } = spawnSync('git', [...settings, 'mergetool', '--no-prompt', '--', name], {
      cwd: directory,
      env: createGitEnvironment(),
      stdio: 'inherit',
    })
    if (error !== undefined || status !== 0)
      throw new CommandError(
        `${conflict.path} is not resolved: git mergetool failed; choose a tool with --tool or git config merge.tool`,
      )
  })
}

/**
 * Writes a conflict to a file of its own name, lets it be edited, and reads it. CommandError if markers are left; the file
 * then stays, with the user's work.
 */
function withConflictFile(
  { path, sides, names }: TextConflict,
  edit: (file: string, directory: string) => void,
): ResolvedText {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-conflict-'))
  let isKept = false
  try {
    const file = join(directory, basename(path))
    const text = mergeText(sides, names).text
    writeFileSync(file, text, 'latin1')
    edit(file, directory)
    const bytes = readFileSync(file)
    const edited = bytes.toString('latin1')
    if (hasMarkers(edited, sides)) {
      isKept = edited !== text
      const next = isKept ? `; your text is in ${file}` : ''
      throw new CommandError(`${path} is not resolved: it still has conflict markers${next}`)
    }
    return { bytes, sides: digestSides(sides) }
  } finally {
    if (!isKept) rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * Reports whether a text still has conflict markers. A line like a separator is none if a version has such a line
 * too.
 */
function hasMarkers(text: string, { ours, theirs }: TextSides): boolean {
  return MARKER.test(text) || (SEPARATOR.test(text) && !SEPARATOR.test(ours) && !SEPARATOR.test(theirs))
}

function runGit(cwd: string, words: readonly string[], input = ''): string {
  const options = { cwd, env: createGitEnvironment(), input: Buffer.from(input, 'latin1') }
  const { error, stdout } = spawnSync('git', words, options)
  if (error !== undefined) throw new CommandError('git is not installed; resolve with --edit instead')
  return stdout.toString()
}

function createGitEnvironment(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !REPOSITORY_VARIABLES.includes(name))
  return Object.fromEntries(others)
}
