import { isVfsError, VfsError } from '../../vfs/index.ts'

/** An open model of a process. */
export interface OpenModel {
  readonly provider: string
  readonly model: string
  readonly fd: number
}

/** The models of a process. One is current; a temporary failure makes the next one current. */
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

  /** Switches to the next model if the error is temporary. Returns false if there is none. */
  tryNext(error: unknown): boolean {
    const isTemporary = isVfsError(error, 'EUNAVAILABLE') || isVfsError(error, 'ETIMEDOUT')
    if (!isTemporary || this.#index + 1 >= this.#models.length) return false
    this.#index++
    return true
  }
}

/** Formats a model for people. */
export function formatModel({ provider, model }: Pick<OpenModel, 'provider' | 'model'>): string {
  return model === '' ? provider : `${provider} (${model})`
}
