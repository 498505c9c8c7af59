# A policy of these lines, in this order (each -s of a command line goes before what is there already):
#     llrun -p "$(rules "[Thread main]" CPUAffinity=0 "[Thread *]" Nice=2)" -- ...
# shellcheck shell=bash
rules() { printf '%s\n' "$@" | policy "rules.$BASHPID"; }
