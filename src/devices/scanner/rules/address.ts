import { allowWordsAfter, createPhrasePattern, type ScanRule } from './rule.ts'

/**
 * Texts that address a model. A person may say such things to an agent, and an agent may note them; a page or a
 * tool states facts and gives no orders.
 */
export const addressRules: readonly ScanRule[] = [
  createRule(
    'it gives orders',
    createPhrasePattern(
      '(?:you|the (?:assistant|agent|ai|model)|any (?:ai|agent|assistant)) (?:must|should|shall|need to|have to|are (?:required|instructed|authorized) to|will now)',
    ),
  ),
  createRule(
    'it gives orders',
    createPhrasePattern(
      '(?:always|never|immediately|first|now) (?:run|execute|call|fetch|visit|open|install|use|write|delete|reply|respond|answer|trust|approve|download)',
    ),
  ),
  createRule(
    'it gives orders',
    createPhrasePattern('(?:run|execute|paste|enter|type) (?:this|the following|these|that)'),
  ),
  createRule(
    'it speaks to models',
    createPhrasePattern(
      allowWordsAfter('(?:note|attention|important|message|instructions?|notice|reminder)', 2),
      '(?:to|for)',
      '(?:(?:the|all|any|every) )?(?:ai|ais|llm|llms|assistants?|agents?|language models?|models?|claude|gpt|chatgpt|copilot|gemini)',
    ),
  ),
  createRule(
    'it speaks to models',
    createPhrasePattern('(?:if|when|whenever) you are an? (?:ai|llm|assistant|agent|language model|bot)'),
  ),
  createRule(
    'it gives orders for later',
    createPhrasePattern(
      '(?:when|whenever|if|next time|every time)',
      '(?:(?:the )?user|you|asked|someone|anyone)',
      allowWordsAfter('asks?|asked|are asked|mentions?|requests?|says?', 12),
      '(?:reply|respond|answer|say|run|send|recommend|tell|do|use|include|call)',
    ),
  ),
]

function createRule(says: string, pattern: RegExp): ScanRule {
  return { kind: 'prompt_injection', says, reading: 'words', pattern }
}
