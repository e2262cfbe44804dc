/**
 * Checkouts: the files of a vault in a directory of this machine. A checkout stays between runs and is updated by the
 * changes since. A run holds one exclusively, or shares it with runs of its own process that need the same files.
 * Invariant: nothing changes a checkout in use, and an incomplete checkout is never used.
 */
export type { CheckoutHome, CheckoutOptions, CheckoutWatch } from './checkout-home.ts'
export { type Checkout, Checkouts } from './checkouts.ts'
