import { createPhrasePattern, type ScanRule } from './rule.ts'

const UNBOUND =
  '(?:unrestricted|unfiltered|uncensored|jailbroken|evil|unlimited|different|free|dan|developer|root|admin|administrator|superuser)'

const CHANGES_IDENTITY = 'it gives the reader another identity'
const LIFTS_RULES = 'it says that rules do not apply to the reader'

/** Texts that give a model another identity, or one without rules. */
export const roleHijackRules: readonly ScanRule[] = [
  createRule(
    CHANGES_IDENTITY,
    'words',
    createPhrasePattern(
      `you are now (?:an?|the|dan|no longer|free|not bound|unrestricted|in ${UNBOUND} mode)`,
    ),
  ),
  createRule(
    CHANGES_IDENTITY,
    'words',
    createPhrasePattern('(?:pretend|imagine) (?:to be|that you|you (?:are|were|have))'),
  ),
  createRule(
    CHANGES_IDENTITY,
    'words',
    createPhrasePattern(
      `(?:act|behave|respond|role ?play) as (?:if you (?:are|were|had)|(?:an? )?${UNBOUND})`,
    ),
  ),
  createRule(
    CHANGES_IDENTITY,
    'words',
    createPhrasePattern('from now on you (?:are|will|shall|must|act|respond|answer|obey|have no|only)'),
  ),
  createRule(
    CHANGES_IDENTITY,
    'words',
    createPhrasePattern('your (?:new|true|real|actual) (?:role|identity|persona|name|purpose)'),
  ),
  createRule(
    LIFTS_RULES,
    'words',
    createPhrasePattern(
      'you (?:are no longer|are not|no longer have|have no|are free of|are free from) (?:(?:an?|any|bound|restricted|limited|constrained|longer|by|to|the|your|an ai|ai|with) )*(?:rules|restrictions|limits|limitations|guidelines|filters|ai|assistant|language model|policies)',
    ),
  ),
  createRule(
    LIFTS_RULES,
    'words',
    createPhrasePattern(
      `(?:dan mode|do anything now|jailbreak mode|god mode (?:enabled|on)|developer mode (?:enabled|on|activated))`,
    ),
  ),
  createRule(
    'it imitates another participant of a conversation',
    'plain',
    /^[ \t>*_#-]*(?:system|assistant|developer|human)[*_]*(?: (?:message|prompt|override))?\s*:\s*(?:you|ignore|from|please|always|never|do|run|i )/mu,
  ),
]

function createRule(says: string, reading: ScanRule['reading'], pattern: RegExp): ScanRule {
  return { kind: 'role_hijack', says, reading, pattern }
}
