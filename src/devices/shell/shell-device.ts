import { z } from 'zod'
import { type Device, type DeviceContext, RequestFile } from '../../kernel/index.ts'
import { type AskPerson, type CommandReport, fromUri, type Workspace } from '../../tools/index.ts'
import { isWithin, join, VfsError } from '../../vfs/index.ts'
import { defineOperation } from '../operation/index.ts'

const DEFAULT_TIMEOUT_MS = 30_000
const MAX_TIMEOUT_MS = 86_400_000
const MAX_HOSTS = 32
/** Of a long output, keep the beginning (what was done) and the end (how it went). */
const HEAD_CHARACTERS = 8000
const TAIL_CHARACTERS = 24_000

/** The workspace that runs the commands of a process. */
export type CommandWorkspace = Pick<Workspace, 'path' | 'exec'>

/** Options of `shellDevice`. */
export interface ShellDeviceOptions {
  /** Path of the device; `/dev/shell` when absent. */
  readonly path?: string
  /** Returns the workspace of a process; undefined if it has none. */
  findWorkspace(ctx: DeviceContext): CommandWorkspace | undefined
  /** Returns the prompt for commands that need confirmation; without one they are refused. */
  askFor?(ctx: DeviceContext): AskPerson | undefined
  /** Timeout of a command that names none; 30 s when absent. */
  readonly timeoutMs?: number
}

/**
 * Creates the device. It takes a shell line, or `{command, cwd, timeout_ms, network, hosts}`. EACCES if policy refuses,
 * ENOTSUP for a process without a workspace that runs commands.
 */
export function shellDevice(options: ShellDeviceOptions): Device {
  const { path = '/dev/shell' } = options
  const { description, inputSchema, run } = createCommandOperation(path, options)
  return {
    match: 'exact',
    tools: [{ name: 'shell_exec', description, inputSchema, request: (body) => ({ subpath: '', body }) }],
    open: (_subpath, _mode, ctx) =>
      new RequestFile(path, async (bytes, signal = ctx.signal) => {
        const response = await run(path, parseRequest(bytes), { ctx, signal })
        return JSON.stringify(response)
      }),
  }
}

function createCommandOperation(
  path: string,
  options: ShellDeviceOptions,
): ReturnType<typeof defineOperation> {
  const { findWorkspace, askFor, timeoutMs: defaultTimeoutMs = DEFAULT_TIMEOUT_MS } = options
  return defineOperation({
    description:
      'Run a command in the workspace; returns its exit code, output and changes. Programs in the background end with it. A command that reaches the network or leaves the workspace waits for approval.',
    schema: z.strictObject({
      command: z
        .string()
        .trim()
        .min(1, 'must not be empty')
        .describe('A line for a shell: npm test | tail -n 20.'),
      cwd: z
        .string()
        .optional()
        .describe('The working directory, such as src; the workspace itself when absent.'),
      timeout_ms: z
        .int()
        .min(1)
        .max(MAX_TIMEOUT_MS)
        .default(defaultTimeoutMs)
        .describe('The time limit, after which the command is stopped.'),
      network: z.boolean().default(false).describe('Request the whole network, which needs approval.'),
      hosts: z
        .array(z.string().min(1))
        .max(MAX_HOSTS)
        .optional()
        .describe(
          'Request these hosts only, such as registry.npmjs.org, *.example.com or example.com:8443. Needs approval unless they are allowed already.',
        ),
    }),
    run: async ({ command, cwd, timeout_ms: timeoutMs, network, hosts }, { ctx, signal }) => {
      const { exec, root } = requireCommands(path, findWorkspace(ctx))
      const call = { caller: ctx.caller, signal: AbortSignal.any([ctx.signal, signal]) }
      // Commands bypass the guard. This mkdir changes nothing, but makes the guard check write access.
      await ctx.fs.mkdir(root, { parents: true }, call)
      const report = await exec(
        { command: { shell: command }, cwd: resolveCwd(path, root, cwd), timeoutMs, network, hosts },
        { ctx: call, ask: askFor?.(ctx) },
      )
      return formatReport(report)
    },
  })
}

interface CommandRunner {
  readonly exec: NonNullable<Workspace['exec']>
  readonly root: string
}

function requireCommands(path: string, workspace: CommandWorkspace | undefined): CommandRunner {
  if (workspace?.exec !== undefined) return { exec: workspace.exec, root: workspace.path }
  const detail =
    workspace === undefined
      ? 'the process has no workspace to run commands in'
      : 'commands cannot be run here'
  throw new VfsError('ENOTSUP', path, { op: 'write', detail })
}

/** Returns the path of a directory from the root of the workspace. EINVAL if it is outside. */
function resolveCwd(device: string, root: string, cwd = ''): string {
  const path = /^vfs:/i.test(cwd) ? fromUri(cwd) : join(root, cwd)
  if (isWithin(path, root)) return path.slice(root.length) || '/'
  throw new VfsError('EINVAL', device, {
    op: 'write',
    detail: `'cwd' must be a directory in ${root}; given: ${path}`,
  })
}

/** Parses a request: JSON, or else a shell line. */
function parseRequest(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes)
  if (!text.trimStart().startsWith('{')) return { command: text }
  try {
    return JSON.parse(text)
  } catch {
    // A brace group of the shell.
    return { command: text }
  }
}

function formatReport(report: CommandReport): unknown {
  const { exitCode, isTimedOut, stdout, stderr, leftOut, checkpoint, unmerged, isNetworked } = report
  const { changes, directories = [], git, overwritten } = report
  const output = [stdout, stderr].filter((text) => text !== '').join(stdout.endsWith('\n') ? '' : '\n')
  return {
    exit_code: exitCode,
    timed_out: isTimedOut,
    output: truncateMiddle(output),
    changes: [
      ...changes.map(({ kind, path, from }) => ({ kind, path, ...(from !== undefined && { from }) })),
      ...directories.map(({ kind, path, files }) => ({ kind, path: `${path}/`, files })),
    ],
    ...(git !== undefined && { git }),
    checkpoint,
    left_out: leftOut,
    unmerged,
    ...(overwritten !== undefined && { overwritten }),
    // Output of a networked command may come from anyone.
    ...(isNetworked === true && { origin: 'network' }),
  }
}

function truncateMiddle(output: string): string {
  const leftOutCount = output.length - HEAD_CHARACTERS - TAIL_CHARACTERS
  if (leftOutCount <= 0) return output
  const head = output.slice(0, HEAD_CHARACTERS).toWellFormed()
  const tail = output.slice(-TAIL_CHARACTERS).toWellFormed()
  return `${head}\n… (${leftOutCount} characters left out)\n${tail}`
}
