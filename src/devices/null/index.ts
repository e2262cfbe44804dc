/**
 * `/dev/null` and `/dev/random`: the devices every system has.
 * One is empty and takes everything; the other gives bytes nobody can guess.
 * Invariant: neither keeps anything.
 */
export { nullDevice, randomDevice } from './null-device.ts'
