#!/bin/sh
# Ends the processes it was told about when the process that started them is gone. A parent killed with SIGKILL cannot
# clean up, but its end of our standard input closes. Lines: "watch PID SIGNAL" and "forget PID".
# The argument, if there is one, is a temporary folder that goes with them.
trap '' INT TERM HUP

watched=''
while read -r verb pid signal; do
  case $verb in
    watch) watched="$pid:$signal $watched" ;;
    forget)
      kept=''
      for entry in $watched; do
        [ "${entry%%:*}" = "$pid" ] || kept="$kept $entry"
      done
      watched=$kept
      ;;
  esac
done

# Each watched process leads its own group, so its children get the signal too. The newest process
# gets it first.
for entry in $watched; do
  kill -s "${entry#*:}" -- "-${entry%%:*}" 2>/dev/null
done

rounds=0
alive=1
while [ "$alive" = 1 ] && [ "$rounds" -lt 60 ]; do
  alive=0
  for entry in $watched; do
    kill -s 0 -- "-${entry%%:*}" 2>/dev/null && alive=1
  done
  sleep 0.1
  rounds=$((rounds + 1))
done

for entry in $watched; do
  kill -s KILL -- "-${entry%%:*}" 2>/dev/null
done

[ -z "$1" ] || rm -rf "$1"
