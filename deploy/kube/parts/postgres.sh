#!/bin/sh
# Handles POSTGRES_DB, POSTGRES_PASSWORD_FILE and PGDATA like the official image, as far as the
# chart's development part needs it.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -D "$PGDATA" -U postgres -A scram-sha-256 --pwfile="$POSTGRES_PASSWORD_FILE" --encoding=UTF8 --locale=C --no-instructions
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "create database \"$POSTGRES_DB\"" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories= "$@"
