import { coversHostRule, type HostRule, parseHostRule } from '../../network/index.ts'
import { type Finding, getStrength, listCategories } from './category.ts'
import { CommandClassifier, type CommandContext } from './command-classifier.ts'
import { type ExecutionDecision, getStronger, type PolicyAction } from './execution-decision.ts'
import type { ExecutionRequest } from './execution-request.ts'
import type { PathContext, PrivatePaths } from './host-path.ts'
import type { Part } from './part.ts'
import { findRuling, type PolicyRule, type PolicyRules } from './rules/policy-rules.ts'
import { addSharedNetwork } from './shared-network.ts'
import { descend } from './shell/depth.ts'
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

/** A command without isolation has no directories of its own. */
const NO_PRIVATE_PATHS: PrivatePaths = { directories: [], except: [] }

/**
 * Decides about a request: the strongest action of its parts wins. Pure and fast; it reads nothing but its arguments.
 * It is a boundary, not a proof: isolation stops what it cannot see.
 *
 * @param privatePaths directories that the command's isolation makes its own; none when absent.
 */
export function decide(
  request: ExecutionRequest,
  policy?: PolicyRules,
  privatePaths?: PrivatePaths,
): ExecutionDecision {
  return explain(request, policy, privatePaths).decision
}

/** Returns the same decision, with every part of the command and its findings. */
export function explain(
  request: ExecutionRequest,
  policy?: PolicyRules,
  privatePaths: PrivatePaths = NO_PRIVATE_PATHS,
): Explanation {
  const { parts: all, variables } = classifyRequest(request, privatePaths)
  const hasOwnLoopback = privatePaths !== NO_PRIVATE_PATHS && !request.network
  const hasServers = privatePaths.isLoopbackShared === true || all.some(isMaybeServer)
  const parts = hasOwnLoopback && hasServers ? all.map(omitLoopback) : all
  const judged = createExplanation(parts, request, policy)
  // A command that is confined to hosts shares nothing that its parts do not have.
  if (isConfinedToHosts(request, policy) || !isGivenNetwork(judged)) return judged
  const shared = createExplanation(addSharedNetwork(parts, variables), request, policy)
  return isGivenNetwork(shared) ? { ...shared, networkPrograms: listNetworkPrograms(shared.parts) } : shared
}

/** True if a part may start a server. If none does, a call of the loopback means a server of this machine. */
function isMaybeServer({ isInert, findings }: Part): boolean {
  return !isInert && !findings.some(({ isLoopback }) => isLoopback === true)
}

/** Returns a part without its calls of servers on the loopback: those servers are the command's own. */
function omitLoopback(part: Part): Part {
  return { ...part, findings: part.findings.filter(({ isLoopback }) => isLoopback !== true) }
}

/**
 * Reports whether a command reaches some hosts and not the whole network. Only isolation can confine it to them, so a
 * caller leaves out the hosts of the policy on a host that cannot isolate.
 */
export function isConfinedToHosts(
  { network, isolation, hosts = [] }: Pick<ExecutionRequest, 'network' | 'isolation' | 'hosts'>,
  policy: PolicyRules | undefined,
): boolean {
  return !network && isolation !== 'none' && (hosts.length > 0 || (policy?.hosts ?? []).length > 0)
}

/** Lists the hosts that a request asks for and that are not allowed yet. */
function listMissingHosts({ hosts = [] }: ExecutionRequest, allowed: readonly HostRule[]): string[] {
  return hosts.filter((host) => !allowed.some((rule) => coversHostRule(rule, parseHostRule(host))))
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
  const leniency = {
    isConfined: isConfinedToHosts(request, policy),
    isAskedToRead: canAskToRead(policy) && all.every(isReadingPart),
  }
  const parts = [
    ...all.map((part) => explainPart(part, request, policy, leniency)),
    ...createRequestParts(request, policy).map((part) => explainPart(part, request, policy)),
  ]
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

function classifyRequest(
  { command, cwd, mountpoint, env, stdin }: ExecutionRequest,
  privatePaths: PrivatePaths,
): Pick<CommandClassifier, 'parts' | 'variables'> {
  const pathContext: PathContext = {
    depth: cwd === '/' ? 0 : cwd.split('/').length - 1,
    root: mountpoint,
    privatePaths,
  }
  const isLong = stdin !== undefined && stdin.length > MAX_INPUT
  const input = typeof stdin === 'object' && !isLong ? Buffer.from(stdin).toString('latin1') : stdin
  const context: CommandContext = {
    pathContext,
    nesting: 0,
    stdin: isLong || typeof input === 'object' ? UNKNOWN : input,
    functions: new Set(),
  }
  const classifier = new CommandClassifier()
  for (const [name, value] of Object.entries(env)) classifier.classifySetting(name, value, context)
  if ('shell' in command) classifier.classifyShell(command.shell, context)
  else classifier.classifyArgv(command.argv, context)
  return classifier
}

/** Creates the part that stands for the request itself, if it asks for more of the network than it may have. */
function createRequestParts(request: ExecutionRequest, policy: PolicyRules | undefined): Part[] {
  const missing = listMissingHosts(request, policy?.hosts ?? [])
  if (!request.network && missing.length === 0) return []
  const reason = request.network ? 'asks for the network' : `asks to reach ${missing.join(', ')}`
  const findings: readonly Finding[] = [{ category: 'networked', reason }]
  return [{ text: 'the request', program: undefined, path: undefined, args: [], findings, isInert: true }]
}

/** True if a person is asked, unless the policy itself denies what leaves the workspace. */
function canAskToRead(policy: PolicyRules | undefined): boolean {
  return policy?.asksToReadOutside === true && policy.defaults?.host_escape_risk === undefined
}

/** True if a part does nothing but read, in the workspace or at paths outside that it names. */
function isReadingPart({ findings }: Part): boolean {
  return findings.every(
    ({ category, path }) =>
      category === 'read_only' || (category === 'host_escape_risk' && path !== undefined),
  )
}

/** Circumstances of a command that weaken the defaults. */
interface Leniency {
  /** The command is confined to hosts, so the network needs no approval. */
  readonly isConfined?: boolean
  /** A person is asked whether the command may read outside of the workspace. */
  readonly isAskedToRead?: boolean
}

function explainPart(
  part: Part,
  { readonly }: ExecutionRequest,
  policy: PolicyRules | undefined,
  leniency: Leniency = {},
): ExplainedPart {
  const { findings } = part
  const rules: PolicyRule[] = []
  let strongest: PolicyAction = 'allow'
  for (const finding of findings) {
    const { action, rule } = findRuling(part, finding, policy)
    const weakened = rule === undefined ? weakenDefault(action, finding, leniency) : action
    strongest = getStronger(strongest, weakened)
    if (rule !== undefined) rules.push(rule)
  }
  // A command that can change nothing needs no checkpoint.
  const action = readonly && strongest === 'allow_with_checkpoint' ? 'allow' : strongest
  return { ...part, action, rules }
}

function weakenDefault(
  action: PolicyAction,
  { category }: Finding,
  { isConfined = false, isAskedToRead = false }: Leniency,
): PolicyAction {
  if (isConfined && category === 'networked' && action === 'require_approval') return 'allow'
  return isAskedToRead && category === 'host_escape_risk' && action === 'deny' ? 'require_approval' : action
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
      ? `${quoted}${formatNextStep(action, strongest, parts.slice(0, parts.indexOf(deciding)))}`
      : `${quoted}; ${rule.reason ?? `${rule.source ?? 'a rule'} says ${rule.action}`}`
  return { reason, ...(isCut && action === 'require_approval' && { part: text }) }
}

function formatNextStep(action: PolicyAction, { path }: Finding, before: readonly Part[]): string {
  if (action === 'require_approval') return '; it needs approval'
  if (action !== 'deny' || path === undefined) return ''
  return isInsideAfterMoves(path, before)
    ? '; policy follows cd only through &&, as in: cd a && ls ..'
    : '; a rule of policy.toml can allow the path'
}

/** Reports whether a path is in the workspace if each `cd` before it succeeds. Elsewhere policy assumes that it fails. */
function isInsideAfterMoves(path: string, before: readonly Part[]): boolean {
  const depth = before
    .filter(({ program }) => program === 'cd')
    .reduce((from, { args: [to = '/'] }) => (to.startsWith('/') ? 0 : Math.max(0, descend(to, from))), 0)
  return path.startsWith('..') && descend(path, depth) >= 0
}
