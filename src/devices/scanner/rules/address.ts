import { loosely, phrase, type Rule } from './rule.ts'

/**
 * What speaks to a model at all. A person may well say such things to an agent, and an agent note them; a page or a
 * tool has facts to tell and no orders to give.
 */
export const addressRules: readonly Rule[] = [
  rule(
    'it gives orders',
    phrase(
      '(?:you|the (?:assistant|agent|ai|model)|any (?:ai|agent|assistant)) (?:must|should|shall|need to|have to|are (?:required|instructed|authorized) to|will now)',
    ),
  ),
  rule(
    'it gives orders',
    phrase(
      '(?:always|never|immediately|first|now) (?:run|execute|call|fetch|visit|open|install|use|write|delete|reply|respond|answer|trust|approve|download)',
    ),
  ),
  rule('it gives orders', phrase('(?:run|execute|paste|enter|type) (?:this|the following|these|that)')),
  rule(
    'it speaks to models',
    phrase(
      loosely('(?:note|attention|important|message|instructions?|notice|reminder)', 2),
      '(?:to|for)',
      '(?:(?:the|all|any|every) )?(?:ai|ais|llm|llms|assistants?|agents?|language models?|models?|claude|gpt|chatgpt|copilot|gemini)',
    ),
  ),
  rule(
    'it speaks to models',
    phrase('(?:if|when|whenever) you are an? (?:ai|llm|assistant|agent|language model|bot)'),
  ),
  rule(
    'it gives orders for later',
    phrase(
      '(?:when|whenever|if|next time|every time)',
      '(?:(?:the )?user|you|asked|someone|anyone)',
      loosely('asks?|asked|are asked|mentions?|requests?|says?', 12),
      '(?:reply|respond|answer|say|run|send|recommend|tell|do|use|include|call)',
    ),
  ),
]

function rule(says: string, pattern: RegExp): Rule {
  return { kind: 'prompt_injection', says, reading: 'words', pattern }
}
