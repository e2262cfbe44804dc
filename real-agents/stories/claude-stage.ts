import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { MessagesApi } from '../apis/messages-api.ts'
import { Stage } from '../stage.ts'

/** Settings of a stage for Claude Code. */
export interface ClaudeStageOptions {
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Lines of `config.toml` below `[processes]`. */
  readonly processes?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Opens a stage on which Claude Code reaches the stand-in and nothing else. */
export async function openClaudeStage(api: MessagesApi, options: ClaudeStageOptions): Promise<Stage> {
  const { files = {}, processes = [], variables = {}, signal } = options
  const stage = await Stage.open(
    files,
    {
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      // Claude Code refuses some of its options to root outside a sandbox.
      IS_SANDBOX: '1',
      ...variables,
    },
    signal,
  )
  const config = ['[processes]', ...processes, ''].join('\n')
  await writeFile(join(stage.directory, 'coppice/config.toml'), config)
  return stage
}

/** Claude Code asks about its theme, its key and the project once, and checks a host that is not here. */
export async function skipFirstQuestions(stage: Stage): Promise<void> {
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
  const settings = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['dummy'], rejected: [] },
    projects: { [stage.project]: project },
  }
  await writeFile(join(stage.directory, '.claude.json'), JSON.stringify(settings))
}

export interface SpawnedProcess {
  readonly pid: number
  readonly fork: string
}

export interface ProcessOutcome {
  readonly exit_code: number | null
  readonly result: string
  readonly reason: string
}

const spawnedSchema: z.ZodType<SpawnedProcess> = z.object({ pid: z.int(), fork: z.string() })
const outcomeSchema: z.ZodType<ProcessOutcome> = z.object({
  exit_code: z.int().nullable(),
  result: z.string(),
  reason: z.string(),
})

/** Starts a process whose model is Claude Code. */
export async function spawnClaude(stage: Stage, intent: string): Promise<SpawnedProcess> {
  const output = await stage.coppice('spawn', intent, '--provider', 'claude', '--vault', 'base', '--json')
  return spawnedSchema.parse(JSON.parse(output))
}

/** Waits for the end of a process. */
export async function waitForOutcome(stage: Stage, pid: number): Promise<ProcessOutcome> {
  const { stdout } = await stage.tryCoppice('wait', String(pid), '--json')
  return outcomeSchema.parse(JSON.parse(stdout))
}

/** Formats a tool call as the text that a model without tool calling answers. */
export function formatToolCall(tool: string, input: object): string {
  return JSON.stringify({ action: 'tool_call', tool, input })
}
