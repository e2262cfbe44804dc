import { phrase, type Rule } from './rule.ts'

const UNBOUND =
  '(?:unrestricted|unfiltered|uncensored|jailbroken|evil|unlimited|different|free|dan|developer|root|admin|administrator|superuser)'

const changing = 'it makes the reader somebody else'
const freeing = 'it says that rules do not count for the reader'

/** What would have a model take itself for another, or for one without rules. */
export const roleHijackRules: readonly Rule[] = [
  rule(
    changing,
    'words',
    phrase(`you are now (?:an?|the|dan|no longer|free|not bound|unrestricted|in ${UNBOUND} mode)`),
  ),
  rule(changing, 'words', phrase('(?:pretend|imagine) (?:to be|that you|you (?:are|were|have))')),
  rule(
    changing,
    'words',
    phrase(`(?:act|behave|respond|role ?play) as (?:if you (?:are|were|had)|(?:an? )?${UNBOUND})`),
  ),
  rule(
    changing,
    'words',
    phrase('from now on you (?:are|will|shall|must|act|respond|answer|obey|have no|only)'),
  ),
  rule(changing, 'words', phrase('your (?:new|true|real|actual) (?:role|identity|persona|name|purpose)')),
  rule(
    freeing,
    'words',
    phrase(
      'you (?:are no longer|are not|no longer have|have no|are free of|are free from) (?:(?:an?|any|bound|restricted|limited|constrained|longer|by|to|the|your|an ai|ai|with) )*(?:rules|restrictions|limits|limitations|guidelines|filters|ai|assistant|language model|policies)',
    ),
  ),
  rule(
    freeing,
    'words',
    phrase(
      `(?:dan mode|do anything now|jailbreak mode|god mode (?:enabled|on)|developer mode (?:enabled|on|activated))`,
    ),
  ),
  rule(
    'it is written as what another party of a conversation says',
    'plain',
    /^[ \t>*_#-]*(?:system|assistant|developer|human)[*_]*(?: (?:message|prompt|override))?\s*:\s*(?:you|ignore|from|please|always|never|do|run|i )/mu,
  ),
]

function rule(says: string, reading: Rule['reading'], pattern: RegExp): Rule {
  return { kind: 'role_hijack', says, reading, pattern }
}
