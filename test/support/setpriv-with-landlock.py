#!/usr/bin/python3
"""As setpriv of util-linux 2.40: --landlock-access and --landlock-rule, and everything else as /mnt/setpriv has it."""
import ctypes, os, struct, sys

NAMES = ('execute write-file read-file read-dir remove-dir remove-file make-char make-dir make-reg make-sock '
         'make-fifo make-block make-sym refer truncate').split()
CREATE, ADD, RESTRICT, NO_NEW_PRIVS = 444, 445, 446, 38
libc = ctypes.CDLL(None, use_errno=True)


def mask(text):
    # No name at all means all of them.
    return sum(1 << NAMES.index(name) for name in (text.split(',') if text else NAMES))


def call(number, *args):
    result = libc.syscall(number, *args)
    if result < 0: sys.exit(f'setpriv: landlock: {os.strerror(ctypes.get_errno())}')
    return result


handled, rules, kept, words = 0, [], [], sys.argv[1:]
while words and words[0].startswith('--') and words[0] != '--':
    word = words.pop(0)
    if word == '--landlock-access': handled |= mask(words.pop(0).removeprefix('fs:'))
    elif word == '--landlock-rule': rules.append(words.pop(0).split(':', 2))
    else: kept.append(word)
    if word == '--pdeathsig': kept.append(words.pop(0))
if handled:
    size = struct.pack('Q', handled)
    ruleset = call(CREATE, size, len(size), 0)
    for kind, access, path in rules:
        assert kind == 'path-beneath'
        at = os.open(path, os.O_PATH)
        call(ADD, ruleset, 1, struct.pack('=Qi', mask(access), at), 0)
    libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
    call(RESTRICT, ruleset, 0)
os.execv('/mnt/setpriv', ['setpriv', *kept, *words])
