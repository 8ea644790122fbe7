#!/bin/sh
# Makes three machines: a network and a disk in memory for each. Prints "ready", and removes all of
# it with its processes when standard input closes. So a killed launcher leaves nothing behind.
#   machines.sh NAME NETWORK FOLDER DISK_MB     such as: machines.sh wha7 10.213.7 /tmp/x 1024
# This machine is NETWORK.254, the others are NETWORK.1 to NETWORK.3.
name=$1 network=$2 folder=$3 disk=$4
trap '' INT TERM HUP

remove() {
  for number in 1 2 3; do
    for pid in $(ip netns pids "$name-$number" 2>/dev/null); do kill -KILL "$pid"; done
  done
  for number in 1 2 3; do
    ip netns del "$name-$number"
    umount -l "$folder/$number"
  done
  ip link del "$name"
  rm -rf "$folder"
} 2>/dev/null

set -e
# The bridge's name is the lock: a second set with this name ends here and removes nothing.
ip link add "$name" type bridge
trap remove EXIT
ip addr add "$network.254/24" dev "$name"
ip link set "$name" up
for number in 1 2 3; do
  machine="$name-$number"
  ip netns add "$machine"
  ip link add "$machine" type veth peer name eth0 netns "$machine"
  ip link set "$machine" master "$name" up
  ip -n "$machine" addr add "$network.$number/24" dev eth0
  ip -n "$machine" link set lo up
  ip -n "$machine" link set eth0 up
  mkdir -p "$folder/$number"
  mount -t tmpfs -o "size=${disk}m,mode=711" tmpfs "$folder/$number"
done
echo ready
set +e
read -r _
exit 0
