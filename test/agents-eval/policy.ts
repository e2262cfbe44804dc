import { ReadToolbox } from './read-toolbox.ts'
import { repairRules } from './rules.ts'
import { SearchToolbox } from './search-toolbox.ts'
import type { Plan, Toolbox, ToolCall } from './toolbox.ts'

/** A tool as a model is offered it. */
interface OfferedTool {
  readonly name: string
  readonly description?: string | undefined
  readonly input_schema: unknown
}

/** A request as a model gets it, without what the model said itself. */
export interface PolicyRequest {
  readonly system: string
  readonly tools: readonly OfferedTool[]
  /** The intent, and the results of all calls so far. */
  readonly texts: readonly string[]
}

/** An answer: calls, or a last text. */
export interface PolicyAnswer {
  readonly calls: readonly ToolCall[]
  readonly text: string
}

/** Characters put into the context of a model, over all requests of one task. */
export interface ContextCount {
  readonly requests: number
  /** System prompts and tool definitions. */
  readonly fixed: number
  /** The intent, calls and results. */
  readonly messages: number
}

/**
 * A model of rules for one task: the intent chooses the rule, the offered tools choose the way to search and edit, and
 * the texts it sees decide about its next calls. It counts the requests it gets.
 */
export class ScriptedModel {
  readonly #isCareful: boolean
  #plan: Plan<string> | undefined
  #offered: ReadonlySet<string> = new Set()
  #results = 0
  #callCharacters = 0
  #count: ContextCount = { requests: 0, fixed: 0, messages: 0 }

  /** A careful model reads each file as a whole before it edits it. */
  constructor({ isCareful = false }: { readonly isCareful?: boolean } = {}) {
    this.#isCareful = isCareful
  }

  get count(): ContextCount {
    return this.#count
  }

  answer(request: PolicyRequest): PolicyAnswer {
    this.#offered = new Set(request.tools.map(({ name }) => name))
    this.#addToCount(request)
    const [intent = '', ...results] = request.texts
    const news = results.slice(this.#results)
    this.#results = results.length
    const answer = this.#continue(intent, request.system, news)
    this.#callCharacters += answer.calls.length === 0 ? 0 : JSON.stringify(answer.calls).length
    return answer
  }

  #continue(intent: string, system: string, news: readonly string[]): PolicyAnswer {
    try {
      this.#plan ??= startPlan(intent, this.#chooseToolbox(system))
      const { done, value } = this.#plan.next(news)
      return done ? { calls: [], text: value } : { calls: value, text: '' }
    } catch (error) {
      return { calls: [], text: `I could not do it. ${error instanceof Error ? error.message : error}` }
    }
  }

  /** A model that can search for content does not read whole directories. */
  #chooseToolbox(system: string): Toolbox {
    if (this.#offered.has('file_grep')) {
      return new SearchToolbox((name) => this.#offered.has(name), this.#isCareful)
    }
    return new ReadToolbox(/directory (\S+)\./.exec(system)?.[1] ?? '')
  }

  #addToCount({ system, tools, texts }: PolicyRequest): void {
    const { requests, fixed, messages } = this.#count
    const definitions = tools.map(({ name, description, input_schema }) => ({
      name,
      description,
      input_schema,
    }))
    this.#count = {
      requests: requests + 1,
      fixed: fixed + system.length + JSON.stringify(definitions).length,
      messages: messages + this.#callCharacters + texts.join('').length,
    }
  }
}

function startPlan(intent: string, toolbox: Toolbox): Plan<string> {
  const rule = repairRules.find((known) => known.intent.test(intent))
  if (rule === undefined) throw new Error('I know no rule for this task.')
  const names = Array.from(intent.matchAll(/`([^`]+)`/g), ([, name = '']) => name)
  return rule.play(toolbox, names)
}
