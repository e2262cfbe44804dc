import { categoriesOf, type Finding, strengthOf } from './category.ts'
import { type Action, type ExecutionDecision, stronger } from './decision.ts'
import type { Place } from './host-path.ts'
import { Judge, type Surroundings } from './judge.ts'
import { sharingNetwork } from './network-share.ts'
import type { Part } from './part.ts'
import type { ExecutionRequest } from './request.ts'
import { type PolicyRule, type PolicyRules, ruling } from './rules/policy-rules.ts'
import { UNKNOWN } from './shell/unknown.ts'

/** A part of a command with what policy says about it. */
export interface ExplainedPart extends Part {
  readonly action: Action
  /** The rules that decided about it, besides the defaults. */
  readonly rules: readonly PolicyRule[]
}

/** A decision with everything it rests on. */
export interface Explanation {
  readonly decision: ExecutionDecision
  readonly parts: readonly ExplainedPart[]
  /** Programs, as the command names them, that get the network by a rule. A rule means those outside the workspace. */
  readonly networkPrograms: readonly string[]
}

/**
 * What may be done with a request: the strongest of what its parts call for. Pure and quick, it looks at nothing but
 * the request and the rules. It is a boundary, not a proof: what it cannot see is for isolation to stop.
 */
export function decide(request: ExecutionRequest, policy?: PolicyRules): ExecutionDecision {
  return explain(request, policy).decision
}

/** The same decision, with every part of the command and what was found about it. */
export function explain(request: ExecutionRequest, policy?: PolicyRules): Explanation {
  const { parts, variables } = judgedRequest(request)
  const judged = explanationOf(parts, request, policy)
  if (!isGivenNetwork(judged)) return judged
  const shared = explanationOf(sharingNetwork(parts, variables), request, policy)
  return isGivenNetwork(shared) ? { ...shared, networkPrograms: networkPrograms(shared.parts) } : shared
}

/** Whether a command reaches the network without anybody being asked. */
function isGivenNetwork({ decision: { action, categories } }: Explanation): boolean {
  return categories.includes('networked') && (action === 'allow' || action === 'allow_with_checkpoint')
}

function explanationOf(
  all: readonly Part[],
  request: ExecutionRequest,
  policy: PolicyRules | undefined,
): Explanation {
  const parts = all.map((part) => explained(part, request, policy))
  const action = parts.reduce<Action>((strongest, part) => stronger(strongest, part.action), 'allow')
  const categories = categoriesOf(parts.flatMap(({ findings }) => findings))
  const decision = { action, categories, ...reasonFor(action, parts) }
  return { decision, parts, networkPrograms: [] }
}

function networkPrograms(parts: readonly ExplainedPart[]): readonly string[] {
  const ruled = parts.filter(
    ({ findings, rules }) =>
      rules.some(({ program, args }) => program !== undefined || args !== undefined) &&
      findings.some(({ category }) => category === 'networked'),
  )
  return [...new Set(ruled.flatMap(({ path }) => path ?? []))]
}

function judgedRequest({
  command,
  cwd,
  mountpoint,
  isolation,
  env,
  stdin,
  network,
}: ExecutionRequest): Pick<Judge, 'parts' | 'variables'> {
  const place: Place = {
    depth: cwd === '/' ? 0 : cwd.split('/').length - 1,
    root: mountpoint,
    hasPrivateTmp: isolation === 'strict',
  }
  const isLong = stdin !== undefined && stdin.length > MAX_INPUT
  const input = typeof stdin === 'object' && !isLong ? Buffer.from(stdin).toString('latin1') : stdin
  const around: Surroundings = {
    place,
    nesting: 0,
    stdin: isLong || typeof input === 'object' ? UNKNOWN : input,
    functions: new Set(),
  }
  const judge = new Judge()
  for (const [name, value] of Object.entries(env)) judge.setting(name, value, around)
  if ('shell' in command) judge.shell(command.shell, around)
  else judge.argv(command.argv, around)
  const wish: Finding = { category: 'networked', reason: 'asks for the network' }
  if (network) {
    judge.parts.push({
      text: 'the request',
      program: undefined,
      path: undefined,
      args: [],
      findings: [wish],
      isInert: true,
    })
  }
  return judge
}

function explained(
  part: Part,
  { readonly }: ExecutionRequest,
  policy: PolicyRules | undefined,
): ExplainedPart {
  const { findings } = part
  const rules: PolicyRule[] = []
  let strongest: Action = 'allow'
  for (const finding of findings) {
    const { action, rule } = ruling(part, finding, policy)
    strongest = stronger(strongest, action)
    if (rule !== undefined) rules.push(rule)
  }
  // What cannot change anything needs nothing to go back to.
  const action = readonly && strongest === 'allow_with_checkpoint' ? 'allow' : strongest
  return { ...part, action, rules }
}

/** What a command reads beyond this is not looked into. */
const MAX_INPUT = 256 * 1024

const MAX_TEXT = 120

/** The part that decided, in words: of several, the one with the strongest category. */
function reasonFor(
  action: Action,
  parts: readonly ExplainedPart[],
): Pick<ExecutionDecision, 'reason' | 'part'> {
  if (action === 'allow') return {}
  let [deciding, strongest]: [ExplainedPart?, Finding?] = []
  for (const part of parts) {
    if (part.action !== action) continue
    for (const finding of part.findings) {
      if (strongest !== undefined && strengthOf(finding.category) <= strengthOf(strongest.category)) continue
      ;[deciding, strongest] = [part, finding]
    }
  }
  if (deciding === undefined || strongest === undefined) return {}
  const { text, rules } = deciding
  const isCut = text.length > MAX_TEXT
  const quoted = `\`${isCut ? `${text.slice(0, MAX_TEXT)}…` : text}\` ${strongest.reason}`
  const rule = rules.find((one) => one.action !== 'allow')
  const reason =
    rule === undefined
      ? `${quoted}${nextStep(action, strongest)}`
      : `${quoted}; ${rule.reason ?? `${rule.source ?? 'a rule'} says ${rule.action}`}`
  return { reason, ...(isCut && action === 'require_approval' && { part: text }) }
}

function nextStep(action: Action, { path }: Finding): string {
  if (action === 'require_approval') return '; it needs an approval'
  return action === 'deny' && path !== undefined ? '; a rule of policy.toml can allow the path' : ''
}
