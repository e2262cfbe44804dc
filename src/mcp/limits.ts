/** The largest message a client may send, over whichever transport: a file it writes as a whole fits in. */
export const MAX_MESSAGE_BYTES: number = 16 * 1024 * 1024
