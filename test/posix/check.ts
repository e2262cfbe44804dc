import type { Places } from './places.ts'

/** One thing that is tried. It passes by returning; throws `DoesNotApply` to be skipped, anything else to fail. */
export interface Check {
  readonly name: string
  run(): Promise<void>
}

/** Checks that share programs and a mounted vault of their own. */
export interface Suite {
  readonly name: string
  readonly about: string
  /** Gets what it needs, and says what there is to try. `DoesNotApply` where it cannot be had. */
  checks(places: Places): Promise<readonly Check[]>
}

/** Why something is not tried here: no failure, and no success. */
export class DoesNotApply extends Error {
  override readonly name = 'DoesNotApply'
}
