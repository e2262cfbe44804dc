import { z } from 'zod'
import { glob, VfsError } from '../../vfs/index.ts'
import { defineFileTool, pathSchema, READ_ONLY_HINTS } from '../define-tool.ts'
import { truncateText } from '../text/character-cut.ts'
import { escapeUnprintable } from '../text/escape-unprintable.ts'
import { TextOutput } from '../text/text-output.ts'
import type { Tool } from '../tool.ts'
import { statOpenable } from '../tool-target.ts'
import { isInGitDirectory } from './git-directory.ts'

const DEFAULT_LIMIT = 1000
/** Limit of a pattern: alternatives in braces take time quadratic in it. */
const MAX_PATTERN_CHARACTERS = 1000

/** A pattern with a component that names `.git`. */
const NAMES_GIT = /(?:^|[/{,])\.git(?![\w.-])/

export const fileGlob: Tool = defineFileTool({
  name: 'file_glob',
  title: 'Find files by name',
  description:
    'Find the files below a directory whose path matches a pattern: * and ? within a name, ** over directories, [a-z], {one,two}; for example **/*.ts. Leaves out .git unless path or pattern names it.',
  hints: READ_ONLY_HINTS,
  schema: z.strictObject({
    path: pathSchema.describe(
      'The directory to search: a vfs:/// URI such as vfs:///workspace, or an absolute path of this machine.',
    ),
    pattern: z
      .string()
      .min(1, 'must not be empty')
      .max(MAX_PATTERN_CHARACTERS, `must not have more than ${MAX_PATTERN_CHARACTERS} characters`)
      .describe('Relative to the directory, for example **/*.ts.'),
    limit: z.int().min(1, 'must be 1 or more').default(DEFAULT_LIMIT).describe('Maximum number of files.'),
  }),
  async run({ pattern, limit }, { target, call: { ctx, progress } }) {
    assertRelative(pattern)
    const { type } = await statOpenable(target, ctx)
    if (type === 'file') throw new VfsError('ENOTDIR', target.path, { op: 'glob' })
    const output = new TextOutput()
    const showsGit = NAMES_GIT.test(pattern)
    for await (const { path } of glob(target.fs, pattern, { cwd: target.path }, ctx)) {
      if (!showsGit && isInGitDirectory(path, target.path)) continue
      if (output.count === limit)
        return `${output.toText('', '')}\n… (more than ${limit}; raise limit for more)`
      output.add(target.show(path))
      if (output.isFull) break
      progress(output.count)
    }
    const none = `no file matches '${escapeUnprintable(pattern)}' in ${truncateText(target.displayPath, MAX_PATTERN_CHARACTERS)}`
    return output.toText(none, '… (cut; use a narrower pattern)')
  },
})

function assertRelative(pattern: string): void {
  const detail =
    pattern.startsWith('/') || /^[a-z]+:\/\//i.test(pattern)
      ? 'the pattern is relative to path; give the directory in path and the rest in pattern'
      : pattern.split('/').some((name) => name === '..' || name === '.')
        ? "the pattern has a '.' or '..' component; give the directory in path"
        : undefined
  if (detail !== undefined)
    throw new VfsError('EINVAL', 'pattern', { op: 'file_glob', detail: `${detail}; given: ${pattern}` })
}
