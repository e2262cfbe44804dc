/**
 * `/dev/null` and `/dev/random`: the devices every system has.
 * One is empty and discards all writes; the other returns random bytes.
 * Invariant: neither stores anything.
 */
export { nullDevice, randomDevice } from './null-device.ts'
