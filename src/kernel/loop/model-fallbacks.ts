import { isVfsError, VfsError } from '../../vfs/index.ts'

/** A model that a process has open. */
export interface OpenModel {
  readonly provider: string
  readonly model: string
  readonly fd: number
}

/** The models a process may ask: one at a time, and the next from when that one fails for a while. */
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

  /** Goes on to the one after it, if another may do better than who failed like this. */
  tryNext(error: unknown): boolean {
    const mayPass = isVfsError(error, 'EUNAVAILABLE') || isVfsError(error, 'ETIMEDOUT')
    if (!mayPass || this.#index + 1 >= this.#models.length) return false
    this.#index++
    return true
  }
}

/** A model as people are told of it. */
export function formatModel({ provider, model }: Pick<OpenModel, 'provider' | 'model'>): string {
  return model === '' ? provider : `${provider} (${model})`
}
