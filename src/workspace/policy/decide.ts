import { type Finding, getStrength, listCategories } from './category.ts'
import { CommandClassifier, type CommandContext } from './command-classifier.ts'
import { type ExecutionDecision, getStronger, type PolicyAction } from './execution-decision.ts'
import type { ExecutionRequest } from './execution-request.ts'
import type { PathContext } from './host-path.ts'
import type { Part } from './part.ts'
import { findRuling, type PolicyRule, type PolicyRules } from './rules/policy-rules.ts'
import { addSharedNetwork } from './shared-network.ts'
import { UNKNOWN } from './shell/unknown.ts'

/** Part of a command with the action of policy. */
export interface ExplainedPart extends Part {
  readonly action: PolicyAction
  /** Rules that decided about it, in addition to the defaults. */
  readonly rules: readonly PolicyRule[]
}

/** Decision with all its grounds. */
export interface Explanation {
  readonly decision: ExecutionDecision
  readonly parts: readonly ExplainedPart[]
  /** Programs, as the command names them, that get the network by a rule. Rules cover those outside the workspace. */
  readonly networkPrograms: readonly string[]
}

/**
 * Decides about a request: the strongest action of its parts wins. Pure and fast; it reads nothing but
 * the request and the rules. It is a boundary, not a proof: isolation stops what it cannot see.
 */
export function decide(request: ExecutionRequest, policy?: PolicyRules): ExecutionDecision {
  return explain(request, policy).decision
}

/** Returns the same decision, with every part of the command and its findings. */
export function explain(request: ExecutionRequest, policy?: PolicyRules): Explanation {
  const { parts, variables } = classifyRequest(request)
  const judged = createExplanation(parts, request, policy)
  if (!isGivenNetwork(judged)) return judged
  const shared = createExplanation(addSharedNetwork(parts, variables), request, policy)
  return isGivenNetwork(shared) ? { ...shared, networkPrograms: listNetworkPrograms(shared.parts) } : shared
}

/** Reports whether a command reaches the network without an approval. */
function isGivenNetwork({ decision: { action, categories } }: Explanation): boolean {
  return categories.includes('networked') && (action === 'allow' || action === 'allow_with_checkpoint')
}

function createExplanation(
  all: readonly Part[],
  request: ExecutionRequest,
  policy: PolicyRules | undefined,
): Explanation {
  const parts = all.map((part) => explainPart(part, request, policy))
  const action = parts.reduce<PolicyAction>((strongest, part) => getStronger(strongest, part.action), 'allow')
  const categories = listCategories(parts.flatMap(({ findings }) => findings))
  const decision = { action, categories, ...formatReason(action, parts) }
  return { decision, parts, networkPrograms: [] }
}

function listNetworkPrograms(parts: readonly ExplainedPart[]): readonly string[] {
  const ruled = parts.filter(
    ({ findings, rules }) =>
      rules.some(({ program, args }) => program !== undefined || args !== undefined) &&
      findings.some(({ category }) => category === 'networked'),
  )
  return [...new Set(ruled.flatMap(({ path }) => path ?? []))]
}

function classifyRequest({
  command,
  cwd,
  mountpoint,
  isolation,
  env,
  stdin,
  network,
}: ExecutionRequest): Pick<CommandClassifier, 'parts' | 'variables'> {
  const pathContext: PathContext = {
    depth: cwd === '/' ? 0 : cwd.split('/').length - 1,
    root: mountpoint,
    hasPrivateTmp: isolation === 'strict',
  }
  const isLong = stdin !== undefined && stdin.length > MAX_INPUT
  const input = typeof stdin === 'object' && !isLong ? Buffer.from(stdin).toString('latin1') : stdin
  const around: CommandContext = {
    pathContext,
    nesting: 0,
    stdin: isLong || typeof input === 'object' ? UNKNOWN : input,
    functions: new Set(),
  }
  const judge = new CommandClassifier()
  for (const [name, value] of Object.entries(env)) judge.classifySetting(name, value, around)
  if ('shell' in command) judge.classifyShell(command.shell, around)
  else judge.classifyArgv(command.argv, around)
  const requestFinding: Finding = { category: 'networked', reason: 'asks for the network' }
  if (network) {
    judge.parts.push({
      text: 'the request',
      program: undefined,
      path: undefined,
      args: [],
      findings: [requestFinding],
      isInert: true,
    })
  }
  return judge
}

function explainPart(
  part: Part,
  { readonly }: ExecutionRequest,
  policy: PolicyRules | undefined,
): ExplainedPart {
  const { findings } = part
  const rules: PolicyRule[] = []
  let strongest: PolicyAction = 'allow'
  for (const finding of findings) {
    const { action, rule } = findRuling(part, finding, policy)
    strongest = getStronger(strongest, action)
    if (rule !== undefined) rules.push(rule)
  }
  // A command that can change nothing needs no checkpoint.
  const action = readonly && strongest === 'allow_with_checkpoint' ? 'allow' : strongest
  return { ...part, action, rules }
}

/** Limit in characters of the standard input that policy reads. */
const MAX_INPUT = 256 * 1024

const MAX_TEXT = 120

/** Formats the deciding part as a reason: of several, the one with the strongest category. */
function formatReason(
  action: PolicyAction,
  parts: readonly ExplainedPart[],
): Pick<ExecutionDecision, 'reason' | 'part'> {
  if (action === 'allow') return {}
  let [deciding, strongest]: [ExplainedPart?, Finding?] = []
  for (const part of parts) {
    if (part.action !== action) continue
    for (const finding of part.findings) {
      if (strongest !== undefined && getStrength(finding.category) <= getStrength(strongest.category))
        continue
      ;[deciding, strongest] = [part, finding]
    }
  }
  if (deciding === undefined || strongest === undefined) return {}
  const { text, rules } = deciding
  const isCut = text.length > MAX_TEXT
  const quoted = `\`${isCut ? `${text.slice(0, MAX_TEXT)}…` : text}\` ${strongest.reason}`
  const rule = rules.find((rule) => rule.action !== 'allow')
  const reason =
    rule === undefined
      ? `${quoted}${formatNextStep(action, strongest)}`
      : `${quoted}; ${rule.reason ?? `${rule.source ?? 'a rule'} says ${rule.action}`}`
  return { reason, ...(isCut && action === 'require_approval' && { part: text }) }
}

function formatNextStep(action: PolicyAction, { path }: Finding): string {
  if (action === 'require_approval') return '; it needs approval'
  return action === 'deny' && path !== undefined ? '; a rule of policy.toml can allow the path' : ''
}
