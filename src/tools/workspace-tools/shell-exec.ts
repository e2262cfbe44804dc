import { z } from 'zod'
import { type CallContext, isWithin, VfsError } from '../../vfs/index.ts'
import { defineVfsTool } from '../define-tool.ts'
import { getCutPosition, sliceStart } from '../text/character-cut.ts'
import { escapeUnprintable } from '../text/escape-unprintable.ts'
import { TextOutput } from '../text/text-output.ts'
import type { Tool } from '../tool.ts'
import type { ToolEnvironment } from '../tool-environment.ts'
import { resolveUri } from '../tool-target.ts'
import { toUri } from '../uri.ts'
import type { CommandReport, Workspace } from '../workspace.ts'
import { requireWritableWorkspace } from './require-workspace.ts'
import { formatChange } from './workspace-changes.ts'

const MS_PER_SECOND = 1000
const DEFAULT_SECONDS = 300
const MAX_SECONDS = 86_400
const MAX_HOSTS = 32
const CUT_NOTE = '… (cut; there is more)'
/** Limit of a stream; of a longer one, the beginning and the end are shown, so that the outcome is visible. */
const MAX_STREAM_CHARACTERS = 1024 * 1024

/** A command cannot contain NUL. */
const word = z.string().refine((text) => !text.includes('\0'), 'must not have a NUL')
const argv = z
  .array(word)
  .min(1, 'must have a program')
  .refine(([program]) => program !== '', 'must have the name of a program first')

export const shellExec: Tool = defineVfsTool({
  name: 'shell_exec',
  title: 'Run a command',
  description:
    'Run a command in the workspace; returns its exit code, output and changes. Programs in the background end with it. A command that reaches the network or leaves the workspace waits for approval.',
  hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  schema: z
    .strictObject({
      command: word
        .min(1, 'must not be empty')
        .refine((line) => line.trim() !== '', 'must not be blank')
        .optional()
        .describe(
          'A line for a shell: npm test | tail -n 20. Paths are relative: src/a.ts for vfs:///workspace/src/a.ts.',
        ),
      argv: argv.optional().describe('In place of command: the program and its arguments, without a shell.'),
      cwd: z
        .string()
        .optional()
        .describe('The working directory, such as vfs:///workspace/src; the workspace itself when absent.'),
      stdin: z.string().optional().describe('Text for standard input; empty when absent.'),
      timeout_seconds: z
        .int()
        .min(1, 'must be 1 or more')
        .max(MAX_SECONDS, `must be ${MAX_SECONDS} or less`)
        .default(DEFAULT_SECONDS)
        .describe('The time limit, after which the command is stopped.'),
      network: z.boolean().default(false).describe('Request the whole network, which needs approval.'),
      hosts: z
        .array(z.string().min(1))
        .max(MAX_HOSTS)
        .optional()
        .describe(
          'Request these hosts only, such as registry.npmjs.org, *.example.com or example.com:8443. Needs approval unless they are allowed already.',
        ),
    })
    .refine((args) => (args.command === undefined) !== (args.argv === undefined), {
      error: 'give either command or argv',
    }),
  async run(args, environment, call) {
    const { command = '', argv: words, cwd, stdin, timeout_seconds: seconds, network, hosts } = args
    const workspace = await requireWritableWorkspace(environment, call.ctx)
    const directory = await resolveCwd(environment, workspace, cwd, call.ctx)
    let bytes = 0
    const onOutput = (chunk: Uint8Array) => {
      bytes += chunk.length
      call.progress(bytes)
    }
    const request = {
      command: words === undefined ? { shell: command } : { argv: words },
      cwd: directory,
      stdin,
      timeoutMs: seconds * MS_PER_SECOND,
      network,
      hosts,
    }
    const report = await requireExec(workspace)(request, { ctx: call.ctx, ask: call.ask, onOutput })
    if (hasChanges(report)) environment.reads.forget(toUri(workspace.path))
    return formatReport(report, seconds)
  },
})

function requireExec({ exec, path }: Workspace): NonNullable<Workspace['exec']> {
  if (exec !== undefined) return exec
  throw new VfsError('ENOTSUP', path, { op: 'exec', detail: 'commands cannot be run here' })
}

/** Resolves a directory of the workspace. EINVAL if it is outside; ENOENT; ENOTDIR, also for a link. */
async function resolveCwd(
  environment: ToolEnvironment,
  { path: root }: Workspace,
  uri: string | undefined,
  ctx: CallContext,
): Promise<string> {
  const { fs } = environment
  const path = uri === undefined ? root : resolveUri(environment, uri).path
  if (path === root) return '/'
  if (!isWithin(path, root)) {
    throw new VfsError('EINVAL', path, { op: 'exec', detail: `cwd must be a directory in ${toUri(root)}` })
  }
  const { type } = await fs.stat(path, ctx)
  if (type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'exec' })
  return path.slice(root.length)
}

function formatReport(report: CommandReport, seconds: number): string {
  const output = new TextOutput()
  output.add(formatExit(report, seconds))
  if (report.unmerged !== null) output.add(formatUnmerged(report.unmerged))
  if (report.overwritten !== undefined) output.add(formatOverwritten(report.overwritten))
  if (hasChanges(report)) output.add('--- changed')
  for (const { kind, path, files } of report.directories ?? [])
    output.add(`${kind}\t${escapeUnprintable(path)}/\t(${files} files)`)
  for (const change of report.changes) output.add(formatChange(change))
  if (report.git !== undefined) output.add(`git\t${escapeUnprintable(report.git)}`)
  if (report.leftOut.length > 0)
    output.add('--- not kept: pipes, sockets, devices, names that are not UTF-8 or too deep')
  for (const path of report.leftOut) output.add(escapeUnprintable(path))
  if (report.checkpoint !== null) {
    output.add(`undo with workspace_restore '${escapeUnprintable(report.checkpoint)}'`)
  }
  // Last: of a long report a model gets the beginning and the end, which shows how the command went.
  if (report.isTruncated === true) output.add('The output exceeded its limit; the end is missing.')
  for (const stream of ['stdout', 'stderr'] as const) {
    const text = truncateMiddle(report[stream].replace(/\n$/, ''))
    if (text !== '') output.add(`--- ${stream}\n${text}`)
  }
  return output.toText('', CUT_NOTE)
}

function hasChanges({ changes, directories = [], git }: CommandReport): boolean {
  return changes.length > 0 || directories.length > 0 || git !== undefined
}

function truncateMiddle(text: string): string {
  const excess = text.length - MAX_STREAM_CHARACTERS
  if (excess <= 0) return text
  const head = sliceStart(text, MAX_STREAM_CHARACTERS / 2)
  const tail = text.slice(getCutPosition(text, text.length - MAX_STREAM_CHARACTERS / 2))
  return `${head}\n… (${excess} characters left out)\n${tail}`
}

function formatExit({ exitCode, isTimedOut }: CommandReport, seconds: number): string {
  if (isTimedOut)
    return `stopped after ${seconds} second${seconds === 1 ? '' : 's'}; raise timeout_seconds for more`
  return exitCode === null ? 'stopped before its end' : `exit code ${exitCode}`
}

function formatOverwritten({ paths, checkpoint }: NonNullable<CommandReport['overwritten']>): string {
  const names = paths.map(escapeUnprintable).join(', ')
  return `Others changed ${names} in the same places while the command ran. The workspace has the version of the command; theirs is in the checkpoint '${escapeUnprintable(checkpoint)}'.`
}

function formatUnmerged(fork: string): string {
  return `The workspace changed at the same paths meanwhile, so these changes are only in the fork '${escapeUnprintable(fork)}'. Merge them with workspace_merge and on_conflict.`
}
