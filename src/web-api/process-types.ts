import type { WebChange } from './compare-types.ts'
import type { Page } from './paging.ts'
import type { TreeName } from './tree-ref.ts'
import type { WebText } from './web-text.ts'

/** A tool call of a step. */
export interface WebToolCall {
  /** The device, such as `/dev/shell`. */
  readonly tool: string
  readonly input: WebText
  readonly result: WebText
  /** Empty if it succeeded. */
  readonly error: string
}

/** One turn of a process: the model's response and the calls it led to. */
export interface WebStep {
  readonly step: number
  readonly time: string
  readonly provider: string
  readonly model: string
  readonly tokens: number
  /** The kind of step, such as `tool_call` or `done`. */
  readonly action: string
  readonly summary: string
  /** Messages that are new in this step, besides the results of tools: prompts, questions, answers. */
  readonly messages: readonly { readonly role: string; readonly text: WebText }[]
  readonly response: WebText
  readonly calls: readonly WebToolCall[]
  /** Checkpoint with the files at the end of the step; null without a workspace. */
  readonly checkpoint: string | null
  /** True if `forkProcess` can start from here. */
  readonly canFork: boolean
}

/** Files that a step changed, and the two trees to compare for their lines. */
export interface WebStepFiles extends Page<WebChange> {
  readonly from: TreeName | null
  readonly to: TreeName | null
}
