/**
 * This machine's part of a home in a database: a home in a directory, with forks of directories, sessions of commands and
 * copies of vaults. It goes to and fro between both homes by send and receive.
 * Invariant: nothing that others must see is only here, except between a change of a leased vault and its shipment.
 */
export { SharedHome } from './shared-home.ts'
