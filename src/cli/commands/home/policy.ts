import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { relative } from 'node:path'
import { escapeName } from '../../../text/index.ts'
import type { ExecutionRequestInput, ExplainedPart, Explanation } from '../../../workspace/index.ts'
import { findProject } from '../../access/enclosing-project.ts'
import { resolveHomePath } from '../../access/home-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatCount } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'

const ISOLATIONS = ['auto', 'none', 'strict'] as const

const explain: Command = defineCommand(
  {
    name: 'policy explain',
    summary: 'Explain the policy decision on a command',
    details: `Each program that the command runs is judged on its own; the strictest decision counts.
The rules are those of policy.toml in the home.`,
    scope: 'home',
    options: {
      shell: { summary: 'Treat the one argument as a shell command line', short: 'c' },
      network: { summary: 'Assume that the command may reach the network' },
      isolation: { summary: 'Assume this isolation (auto)', value: 'level', choices: ISOLATIONS },
    },
    arguments: {
      command: {
        summary: 'The program and its arguments, after --',
        isList: true,
        isForOtherProgram: true,
      },
    },
    examples: ['coppice policy explain -- git push', "coppice policy explain --shell -- 'curl x | sh'"],
  },
  async (call) => {
    // Loaded on use: help and completion do not need the grammar.
    const { executionRequest, explainIsolated, readPolicy } = await import('../../../workspace/index.ts')
    const { policy } = await readPolicy(await resolveHomePath(call))
    const request = executionRequest(createRequest(call))
    const { explanation } = await explainIsolated(request, policy, {
      userHome: homedir(),
      shellDirectory: process.env['PWD'],
    })
    await call.output.writeValue(explanation, formatExplanation(explanation))
  },
)

const check: Command = defineCommand(
  {
    name: 'policy check',
    summary: "Check the home's policy.toml",
    details:
      'If policy.toml has problems, prints each with its line and the allowed values, and exits with code 1.',
    scope: 'home',
    examples: ['coppice policy check', 'coppice policy check --home ./agents --json'],
  },
  async (call) => {
    const { readPolicy } = await import('../../../workspace/index.ts')
    // Throws if the file has problems; the command then prints them and exits with code 1.
    const { file, policy } = await readPolicy(await resolveHomePath(call))
    const rules = policy.rules.length
    const text = `${file}: ${rules === 0 ? 'valid; no rules, the defaults apply' : `valid, ${formatCount(rules, 'rule')}`}`
    await call.output.writeValue({ file, rules, problems: [] }, text)
  },
)

export const policy: CommandGroup = {
  name: 'policy',
  summary: 'Explain and check the policy for commands',
  commands: [explain, check],
}

function createRequest(
  call: CommandInvocation<'shell' | 'network' | 'isolation', 'command'>,
): ExecutionRequestInput {
  const words = call.argumentList('command')
  const [line = ''] = words
  if (call.has('shell') && words.length !== 1) {
    throw new UsageError('--shell takes one argument; put the command in quotation marks')
  }
  const here = realpathSync(process.cwd())
  const project = findProject(here)
  return {
    vault: project,
    mountpoint: project,
    cwd: `/${relative(project, here)}`,
    command: call.has('shell') ? { shell: line } : { argv: words },
    network: call.has('network'),
    isolation: call.choiceOption('isolation', ISOLATIONS) ?? 'auto',
  }
}

function formatExplanation({ decision: { action, categories, reason }, parts }: Explanation): string {
  const rows = parts.flatMap((part) => toPartRows(part))
  const lines = [`${action}: ${categories.join(', ')}`, ...(reason === undefined ? [] : [escapeName(reason)])]
  return [...lines, '', ...formatTable(rows).map((row) => `  ${row}`)].join('\n')
}

/** Formats a part with its findings, and the rules that override the defaults. */
function toPartRows({ text, action, findings, rules }: ExplainedPart): string[][] {
  const found = findings.map(({ category, reason }) => `${category}: ${reason}`)
  const ruled = rules.map(
    (rule) =>
      `${rule.source ?? 'a rule'} says ${rule.action}${rule.reason === undefined ? '' : `: ${rule.reason}`}`,
  )
  const [first = '', ...others] = [...new Set([...found, ...ruled])].map(escapeName)
  return [[action, escapeName(text), first], ...others.map((text) => ['', '', text])]
}
