import { VfsError } from '../../vfs/index.ts'
import { canFallBack } from './retry-backoff.ts'

/** An open model of a process. */
export interface OpenModel {
  readonly provider: string
  readonly model: string
  readonly fd: number
}

/** The models of a process. One is current; a failure that is not of the request makes the next one current. */
export class ModelFallbacks {
  readonly #models: readonly OpenModel[]
  #index = 0

  constructor(models: readonly OpenModel[]) {
    this.#models = models
  }

  get current(): OpenModel {
    const current = this.#models[this.#index]
    if (current !== undefined) return current
    throw new VfsError('EINTERNAL', '/dev/llm', { op: 'ask', detail: 'the process has no model' })
  }

  /** Returns to the first model. */
  reset(): void {
    this.#index = 0
  }

  /** Switches to the next model if that one may answer in spite of the error. Returns false if there is none. */
  tryNext(error: unknown): boolean {
    if (!canFallBack(error) || this.#index + 1 >= this.#models.length) return false
    this.#index++
    return true
  }
}

/** Formats a model for people. */
export function formatModel({ provider, model }: Pick<OpenModel, 'provider' | 'model'>): string {
  return model === '' ? provider : `${provider} (${model})`
}
