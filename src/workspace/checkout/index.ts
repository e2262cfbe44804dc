/**
 * Checkouts: the files of a vault in a directory of this machine, kept from one run to the next and brought up to date
 * by what changed since. A run has one to itself, with those of its own process that want the same files.
 * Invariant: nobody changes a checkout that somebody uses; one that was not finished is never used.
 */
export type { CheckoutHome } from './checkout-home.ts'
export { type Checkout, Checkouts } from './checkouts.ts'
