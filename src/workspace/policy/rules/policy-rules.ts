import type { HostRule } from '../../../network/index.ts'
import type { Category, Finding } from '../category.ts'
import type { PolicyAction } from '../execution-decision.ts'
import { isHostProgram, type Part } from '../part.ts'
import { isLiteral } from '../shell/unknown.ts'
import { matchesWildcard } from './glob.ts'

export const ruleActions = ['allow', 'ask', 'deny'] as const
export type RuleAction = (typeof ruleActions)[number]

/** One rule of a policy. It applies to the parts of a command that match all its fields. */
export interface PolicyRule {
  readonly action: RuleAction
  /** Pattern for the name of the program. */
  readonly program?: string
  /** Pattern for its arguments, joined by spaces. */
  readonly args?: string
  readonly category?: Category
  /** Pattern for a path outside the workspace that it reaches. */
  readonly path?: string
  /** Reason shown with a refusal. */
  readonly reason?: string
  /** File and line of the rule. */
  readonly source?: string
}

/** Rules of a policy, in addition to the built-in defaults. */
export interface PolicyRules {
  readonly rules: readonly PolicyRule[]
  /** Actions for categories where no rule applies. */
  readonly defaults?: Readonly<Partial<Record<Category, RuleAction>>>
  /** Hosts that every isolated command may reach. A command that needs the network then runs, confined to these. */
  readonly hosts?: readonly HostRule[]
  /**
   * True if a person at a terminal is asked about a command that only reads outside of the workspace. Otherwise it is
   * denied.
   */
  readonly asksToReadOutside?: boolean
}

const DEFAULTS: Readonly<Record<Category, PolicyAction>> = {
  read_only: 'allow',
  mutating: 'allow_with_checkpoint',
  interactive: 'allow_with_checkpoint',
  destructive: 'allow_with_checkpoint',
  networked: 'require_approval',
  host_escape_risk: 'deny',
}

/** Action on one finding, and the rule that decided it. */
export interface Ruling {
  readonly action: PolicyAction
  readonly rule: PolicyRule | undefined
}

/** Returns the policy's action on a finding: a rule that denies wins, then one that asks, then one that allows. */
export function findRuling(part: Part, finding: Finding, policy: PolicyRules | undefined): Ruling {
  if (policy === undefined) return { action: DEFAULTS[finding.category], rule: undefined }
  const applying = policy.rules.filter((rule) => isApplicable(rule, part, finding))
  for (const action of ['deny', 'ask', 'allow'] as const) {
    const rule = applying.find((rule) => rule.action === action)
    if (rule !== undefined) return { action: toPolicyAction(action, finding.category), rule }
  }
  const byDefault = policy.defaults?.[finding.category]
  const action =
    byDefault === undefined ? DEFAULTS[finding.category] : toPolicyAction(byDefault, finding.category)
  return { action, rule: undefined }
}

/** An allowed change of files still gets a checkpoint, so that it can be undone. */
function toPolicyAction(action: RuleAction, category: Category): PolicyAction {
  if (action === 'deny') return 'deny'
  if (action === 'ask') return 'require_approval'
  return DEFAULTS[category] === 'allow_with_checkpoint' ? 'allow_with_checkpoint' : 'allow'
}

function isApplicable(rule: PolicyRule, part: Part, finding: Finding): boolean {
  const { action, program, args, category, path } = rule
  if (program !== undefined && (part.program === undefined || !matchesWildcard(program, part.program)))
    return false
  if (args !== undefined && !(part.args.every(isLiteral) && matchesWildcard(args, part.args.join(' '))))
    return false
  if (category !== undefined && category !== finding.category) return false
  if (path !== undefined && !isMatchingPath(path, finding.path)) return false
  // A rule allows programs of the machine: one of the same name in the workspace is another program.
  const isByProgram = program !== undefined || args !== undefined
  if (action === 'allow' && isByProgram && !isHostProgram(part.program, part.path)) return false
  // Only a rule with a path or a category allows to leave the workspace: one for a program does not cover every file.
  const isEscape = finding.category === 'host_escape_risk'
  return action !== 'allow' || !isEscape || category !== undefined || path !== undefined
}

/** A path that is only partly known may lead anywhere. */
function isMatchingPath(pattern: string, path: string | undefined): boolean {
  return path !== undefined && isLiteral(path) && matchesWildcard(pattern, path)
}
