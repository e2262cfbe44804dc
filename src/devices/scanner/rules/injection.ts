import { allowWordsAfter, createPhrasePattern, type ScanRule } from './rule.ts'

const DROP = '(?:ignore|disregard|forget|neglect|override|bypass|discard|violate)'
const EARLIER = '(?:previous|prior|above|earlier|preceding|foregoing|original|initial|your|system|safety)'
const ORDERS =
  '(?:instructions?|prompts?|directives?|guidelines?|guardrails?|restrictions|safeguards|programming|training|orders|rules)'
const TELL =
  '(?:tell|telling|inform|informing|mention|mentioning|reveal|alert|alerting|notify|notifying|disclose)'
const PERSON =
  // Excludes possessives: `the user's name`.
  '(?:(?:the|your|any) )?(?:user|human|operator|owner|developer|anyone|anybody|them)(?! (?:s|names?|ids?|emails?|data|table|agent|guide)(?: |$))'
const KEPT_BACK = String.raw`(?<!(?:never|not|dont|avoid)(?: [\p{L}\p{N}]+){0,6} )without`

const OTHER_LANGUAGES = [
  '(?:ignorier\\p{L}*|vergiss|missachte\\p{L}*)[^.]{0,30}(?:anweisung|instruktion|vorgabe)',
  '(?:ignore[zr]?|oublie[zr]?)[^.]{0,30}(?:instructions|consignes) (?:précédent|antérieur|ci-dessus)',
  '(?:ignor|olvid|esque|dimentic)\\p{L}+[^.]{0,30}(?:instruc|istruzion)\\p{L}+[^.]{0,20}(?:anterior|previa|prévia|precedent)',
  '(?:игнорируй|забудь)[^.]{0,30}(?:инструкци|указани)',
  '(?:忽略|无视|忘记|忽視|無視)[^。]{0,12}(?:指令|指示|提示|规则|說明|说明)',
  '(?:以前|前|上記|これまで)の?(?:指示|命令|ルール)を(?:無視|忘れ)',
  '이전[^.]{0,8}(?:지시|명령)[^.]{0,6}무시',
]

const IGNORES_INSTRUCTIONS = 'it says to ignore earlier instructions'
const HIDES_FROM_PEOPLE = 'it asks to keep something from people'

/** Texts that make a model obey them in place of its principals. */
export const injectionRules: readonly ScanRule[] = [
  createRule(
    IGNORES_INSTRUCTIONS,
    'words',
    createPhrasePattern(allowWordsAfter(DROP, 3), allowWordsAfter(EARLIER, 2), ORDERS),
  ),
  createRule(
    IGNORES_INSTRUCTIONS,
    'words',
    createPhrasePattern(DROP, '(?:(?:all|any|every|the|these|those|of|my) )*(?:instructions?|directives?)'),
  ),
  createRule(
    IGNORES_INSTRUCTIONS,
    'words',
    /(?:ignore|disregard|forget)(?:all|any|the|your)*(?:previous|prior|above|earlier|system)(?:instruction|prompt|rules)/u,
  ),
  createRule(
    'it says to ignore what was said before',
    'words',
    createPhrasePattern(
      '(?:ignore|disregard|forget)',
      allowWordsAfter('(?:everything|anything|all|whatever)', 4),
      '(?:above|before|previously|earlier|told|said)',
    ),
  ),
  createRule(
    `${IGNORES_INSTRUCTIONS}, in another language`,
    'native',
    new RegExp(OTHER_LANGUAGES.join('|'), 'u'),
  ),
  createRule(
    'it gives new instructions in place of the old',
    'words',
    createPhrasePattern(
      'your (?:new|real|actual|true|updated) (?:instructions?|orders|directives?|task|goal|mission)',
    ),
  ),
  createRule(
    HIDES_FROM_PEOPLE,
    'words',
    createPhrasePattern('(?:do not|dont|never)', TELL, `(?:(?:this|it|that|anything|to) )*${PERSON}`),
  ),
  createRule(HIDES_FROM_PEOPLE, 'words', createPhrasePattern(KEPT_BACK, TELL, PERSON)),
  createRule(
    'it imitates a system message',
    'plain',
    /<\|?\/?\s*(?:system|im_start|im_end|endoftext|instructions?|sys|begin_of_text|start_header_id)\b[^>\n]{0,40}>|<<\s*\/?sys\s*>>|\[\/?(?:inst|system)\]|(?:begin|end|start) (?:of )?system prompt|^[ \t]*#{1,6}[ \t]*(?:system|new instructions?)[ \t]*:?[ \t]*$/mu,
  ),
  createRule('a comment in it hides text', 'plain', /<!--/u),
]

function createRule(says: string, reading: ScanRule['reading'], pattern: RegExp): ScanRule {
  return { kind: 'prompt_injection', says, reading, pattern }
}
