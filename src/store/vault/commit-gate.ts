import type { MaybePromise } from '../engine.ts'

/** Lets one commit of a vault run at a time. On a local engine a commit is over when the call returns. */
export class CommitGate {
  #inProgress: Promise<void> | undefined

  /** Resolves when the commit that a remote engine has not answered yet is settled; undefined if there is none. */
  get inProgress(): Promise<void> | undefined {
    return this.#inProgress
  }

  /** Commits, then settles or fails; no other commit may begin before that. */
  run<T>(
    commit: () => MaybePromise<boolean>,
    settle: (isAccepted: boolean) => MaybePromise<T>,
    fail: (error: unknown) => MaybePromise<T>,
  ): MaybePromise<T> {
    let result: MaybePromise<boolean>
    try {
      result = commit()
    } catch (error) {
      return fail(error)
    }
    if (!(result instanceof Promise)) return settle(result)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#inProgress = promise
    const release = () => {
      this.#inProgress = undefined
      resolve()
    }
    // Settling must not wait for the gate: it only reads the engine.
    return result.then(settle, fail).finally(release)
  }
}
